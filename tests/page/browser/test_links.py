"""Links to the page, on pages of other sites."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.page.browser.window import Window
from tests.page.page_server import served as serve
from tests.page.page_server import settings_for

TOKEN = "a-token-in-a-chat"


@contextmanager
def other_site(*links: str):
    """The address of a page with some links, of another site than 127.0.0.1."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write("".join(f'<a href="{one}">setwise</a>' for one in links).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def test_a_link_with_the_token_opens_the_page_and_later_one_without(
    driver, gallery_file, tmp_path
):
    with serve(settings_for(gallery_file, tmp_path, token=TOKEN)) as page:
        window = Window(driver, page.address)
        links = (f"{page.address}/?token={TOKEN}", f"{page.address}/#gallery")
        with other_site(*links) as address:
            for number in range(2):
                driver.get(address)
                window.run(f"document.links[{number}].click()")
                window.until("document.querySelectorAll('.person, .class').length > 0", "it")
                assert "token" not in driver.current_url
        driver.delete_all_cookies()
        driver.get("about:blank")
