// What the server tells: one stream for all windows of a browser, as it lends few connections.

const NAME = "setwise events",
  TOPICS = ["gallery", "questions", "inbox", "start"],
  AGAIN_MS = 2000;

/** Hear what changes: `hear(topic, data)`, `hear("open")` when the server is back, `hear("lost")`. */
export const follow = (hear) => {
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
  const last = new Map();
  let source = null;
  const tell = (topic, data) => {
    if (data !== undefined) last.set(topic, data);
    hear(topic, data);
    channel?.postMessage([topic, data]);
  };
  const open = () => {
    source = new EventSource("/api/v1/events");
    let wasLost = false;
    source.addEventListener("open", () => {
      if (wasLost) tell("open");
      wasLost = false;
    });
    source.addEventListener("error", () => {
      wasLost = true;
      tell("lost");
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(() => source ?? open(), AGAIN_MS);
    });
    for (const topic of TOPICS) source.addEventListener(topic, (event) => tell(topic, JSON.parse(event.data)));
  };
  const close = () => {
    source?.close();
    source = null;
  };
  channel?.addEventListener("message", ({ data: [topic, data] }) => {
    if (topic !== "hello") return hear(topic, data);
    if (source) for (const known of last) channel.postMessage(known); // a new window asks
  });
  channel?.postMessage(["hello"]);
  if (navigator.locks && channel) {
    // The window that holds the lock has the stream; when it goes, another one takes over.
    const lead = () =>
      navigator.locks.request(NAME, () => {
        open();
        return new Promise((release) => {
          window.addEventListener("pagehide", () => release(close()), { once: true });
        });
      });
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) lead();
    });
    lead();
    return;
  }
  // Without locks each window has its own, and lets go while nobody looks at it.
  const look = () => {
    if (document.hidden) return close();
    if (source) return undefined;
    open();
    return hear("open");
  };
  document.addEventListener("visibilitychange", look);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", look);
  look();
};
