"""The web app at the gateway's address: its files, and its page wherever it has a view.

The app is one page that shows a view by its address, so a link into it is answered with that
page. It is the answer only for who wants a page: a program that asks for a path that is not
there must hear so.
"""

from __future__ import annotations

import secrets

from aiohttp import hdrs, web

from evergrid.gateway.access.auth_middleware import NONCE
from evergrid.gateway.http.accept_header import takes
from evergrid.gateway.http.assets import CLIENT, INDEX, Asset, Assets

_NONCE_BYTES = 16
_HTML = "text/html"
_PACKED = "gzip"
# What is there for programs has no views below it.
_NO_VIEWS = ("api", "metrics", "livez", "readyz")

NOT_BUILT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Evergrid</title>
<h1>Evergrid</h1>
<p>The gateway runs, but this copy of Evergrid has no web page in it.</p>
<p>Build the page in the source tree with <code>make web</code>, then start the gateway again.
Everything else works: see <a href="/openapi.json">/openapi.json</a>.</p>
</html>
"""


class Page:
    """Answers with what is the same for everybody, so no key is asked for."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    async def page(self, request: web.Request) -> web.StreamResponse:
        """The page, with a new nonce: who could guess it could add styles of their own."""
        if not self._assets.page:
            return web.Response(text=NOT_BUILT, content_type=_HTML, status=503)
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        answer = web.Response(
            body=nonce.encode().join(self._assets.page), content_type=_HTML, charset="utf-8"
        )
        answer.headers[hdrs.CACHE_CONTROL] = "no-store"
        answer[NONCE] = nonce
        return answer

    async def client(self, request: web.Request) -> web.StreamResponse:
        """The browser client in one file, which other sites' pages may load too."""
        return _file(request, self._assets.files.get(CLIENT))

    async def anything(self, request: web.Request) -> web.StreamResponse:
        """A file of the app, or the page where the app has a view."""
        asset = self._assets.files.get(request.path)
        if asset is None and (request.path == INDEX or _is_view(request)):
            return await self.page(request)
        return _file(request, asset)


def _is_view(request: web.Request) -> bool:
    accept = ",".join(request.headers.getall(hdrs.ACCEPT, []))
    first = request.path.split("/")[1]
    # No view's address has a dot in it, and every file's name has.
    return first not in _NO_VIEWS and "." not in request.path and takes(accept, _HTML)


def _file(request: web.Request, asset: Asset | None) -> web.StreamResponse:
    if asset is None:
        raise web.HTTPNotFound
    accept = ",".join(request.headers.getall(hdrs.ACCEPT_ENCODING, []))
    packed = bool(asset.packed) and takes(accept, _PACKED)
    tag = f"{asset.tag}-{_PACKED}" if packed else asset.tag
    answer = web.Response()
    answer.etag = tag
    answer.headers[hdrs.CACHE_CONTROL] = asset.cache
    if asset.packed:
        answer.headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    if any(known.value in (tag, "*") for known in request.if_none_match or ()):
        answer.set_status(304)
        return answer
    answer.headers[hdrs.CONTENT_TYPE] = asset.media
    if packed:
        answer.headers[hdrs.CONTENT_ENCODING] = _PACKED
    answer.body = asset.packed if packed else asset.body
    return answer
