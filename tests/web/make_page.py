#!/usr/bin/env python3
"""A page as `wick view` writes it, out of the files as they lie in flamescope/web: to look at it.

    make_page.py PACK [BASELINE] OUT.html [--state 'time=10-20&group=state']
"""
import argparse
import base64
import gzip
import html
import json
import pathlib

WEB = pathlib.Path(__file__).resolve().parent.parent.parent / "flamescope" / "web"
NONCE = "bm9uY2U="
POLICY = ("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; img-src data: blob:; "
          "connect-src 'none'; base-uri 'none'; form-action 'none'").format(NONCE)


def data_tag(number, path):
    packed = base64.b64encode(gzip.compress(pathlib.Path(path).read_bytes(), 1)).decode()
    name = html.escape(pathlib.Path(path).name, quote=True)
    return f'<script type="application/x-wick-pack" id="wick-pack-{number}" data-name="{name}">{packed}</script>'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packs", nargs="+")
    parser.add_argument("out")
    parser.add_argument("--state", default="")
    options = parser.parse_args()
    modules = {f"wick/{path.name}": "data:text/javascript;base64," + base64.b64encode(path.read_bytes()).decode()
               for path in sorted(WEB.glob("*.js"))}
    start = json.dumps({"mode": "view", "state": options.state, "token": "", "api": "/api/"}).replace("<", "\\u003c")
    places = {
        "<!--wick:map-->": f'<script type="importmap" nonce="{NONCE}">{json.dumps({"imports": modules})}</script>\n'
                           f'<script type="module" nonce="{NONCE}">import "wick/main.js"</script>',
        "<!--wick:css-->": f'<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">\n<style nonce="{NONCE}">\n{"".join(path.read_text() for path in sorted(WEB.glob("*.css")))}</style>',
        "<!--wick:start-->": f'<script type="application/json" id="wick-start">{start}</script>\n',
        "<!--wick:packs-->": "\n".join(data_tag(i, path) for i, path in enumerate(options.packs)),
    }
    page = (WEB / "page.html").read_text().replace("{{title}}", "wick").replace("{{nonce}}", NONCE)
    for place, text in places.items():
        page = page.replace(place, text)
    pathlib.Path(options.out).write_text(page)


if __name__ == "__main__":
    main()
