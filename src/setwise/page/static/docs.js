// The API for people, drawn from openapi.json: nothing is loaded from elsewhere.

import { byId, el } from "./dom.js";

const NAMES = { get: "GET", post: "POST", put: "PUT", delete: "DELETE" };

const nameOf = (ref) => ref.split("/").at(-1);

/** A schema in a few words, with links to the models. */
const typeOf = (schema) => {
  if (!schema) return "anything";
  if (schema.$ref) return el("a", { href: `#model-${nameOf(schema.$ref)}` }, nameOf(schema.$ref));
  const several = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (several) return several.flatMap((one, i) => [i ? " or " : "", typeOf(one)]);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.prefixItems) return ["list of ", String(schema.prefixItems.length), " ", typeOf(schema.prefixItems[0])];
  if (schema.type === "array") return ["list of ", typeOf(schema.items)];
  if (schema.format === "binary") return "file";
  return schema.type ?? "anything";
};

const fieldRow = (name, schema, isNeeded) =>
  el(
    "tr",
    {},
    el("th", { scope: "row" }, el("code", {}, name), isNeeded && el("small", {}, " needed")),
    el("td", {}, typeOf(schema)),
    el("td", {}, schema.description ?? ""),
  );

const fields = (schema) =>
  el(
    "table",
    { class: "fields" },
    el("tbody", {}, ...Object.entries(schema.properties ?? {}).map(([name, one]) => fieldRow(name, one, schema.required?.includes(name)))),
  );

const bodyOf = (about) =>
  Object.entries(about.requestBody?.content ?? {}).map(([type, { schema }]) =>
    el("p", {}, "Body, ", el("code", {}, type), ": ", schema.$ref ? typeOf(schema) : fields(schema)),
  );

const answerOf = ([code, { description, content }]) => {
  const [type, one] = Object.entries(content ?? {})[0] ?? [];
  const shape = one?.schema?.$ref || one?.schema?.type === "array" ? [": ", typeOf(one.schema)] : type && code[0] === "2" ? `: ${type}` : "";
  return el("li", { class: code[0] === "2" ? "right-mark" : null }, el("code", {}, code), ` ${code[0] === "2" ? about2(description) : description}`, shape);
};
const about2 = (words) => (words === "Successful Response" ? "done" : words);

const operation = (path, method, about) =>
  el(
    "article",
    { class: "operation", id: about.operationId },
    el("h3", {}, el("span", { class: `method ${method}` }, NAMES[method]), " ", el("code", {}, path)),
    el("p", {}, about.description ?? about.summary),
    about.parameters?.length > 0 &&
      el(
        "table",
        { class: "fields" },
        el("tbody", {}, ...about.parameters.map((one) => fieldRow(one.name, { ...one.schema, description: one.description ?? `in the ${one.in}` }, one.required))),
      ),
    bodyOf(about),
    el("details", {}, el("summary", {}, "Answers"), el("ul", {}, ...Object.entries(about.responses).map(answerOf))),
  );

const fill = (api) => {
  byId("version").textContent = `${api.info.title} ${api.info.version}`;
  byId("about").textContent = api.info.description;
  const operations = Object.entries(api.paths).flatMap(([path, ways]) => Object.entries(ways).map(([method, about]) => [path, method, about]));
  for (const { name, description } of api.tags) {
    const own = operations.filter(([, , about]) => about.tags?.[0] === name);
    byId("kinds").append(el("a", { href: `#kind-${name}` }, name));
    byId("routes").append(
      el("section", { class: "kind-of-routes", id: `kind-${name}` }, el("h2", {}, name), el("p", { class: "small" }, description), ...own.map((one) => operation(...one))),
    );
  }
  byId("kinds").append(el("a", { href: "#models" }, "models"));
  byId("routes").append(
    el(
      "section",
      { class: "kind-of-routes", id: "models" },
      el("h2", {}, "models"),
      ...Object.entries(api.components.schemas).map(([name, schema]) =>
        el("article", { class: "operation", id: `model-${name}` }, el("h3", {}, el("code", {}, name)), el("p", {}, schema.description ?? ""), fields(schema)),
      ),
    ),
  );
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
};

const answer = await fetch("openapi.json");
fill(await answer.json());
