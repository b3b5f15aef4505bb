"""Serves the web app: its files, and its page at every path of a view.

The app is a single page that shows a view by its path, so a link into it gets that page. Only
clients that accept HTML get it: a program that asks for an unknown path must get a 404.
"""

from __future__ import annotations

import secrets

from aiohttp import hdrs, web

from evergrid.gateway.access.auth_middleware import NONCE
from evergrid.gateway.http.accept_header import accepts
from evergrid.gateway.http.assets import CLIENT, INDEX, Asset, Assets

_NONCE_BYTES = 16
_HTML = "text/html"
_PACKED = "gzip"
# Paths for programs: the app has no views below them.
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


class WebPage:
    """The handlers of the web app, which needs no key: it is the same for everybody."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    async def page(self, request: web.Request) -> web.StreamResponse:
        """The page, with a new nonce each time: a known one would let others inject styles."""
        if not self._assets.page:
            return web.Response(text=NOT_BUILT, content_type=_HTML, status=503)
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        response = web.Response(
            body=nonce.encode().join(self._assets.page), content_type=_HTML, charset="utf-8"
        )
        response.headers[hdrs.CACHE_CONTROL] = "no-store"
        response[NONCE] = nonce
        return response

    async def client(self, request: web.Request) -> web.StreamResponse:
        """The browser client in one file, which pages of other sites may load too."""
        return _file(request, self._assets.files.get(CLIENT))

    async def file_or_view(self, request: web.Request) -> web.StreamResponse:
        """A file of the app, or the page at the path of a view."""
        asset = self._assets.files.get(request.path)
        if asset is None and (request.path == INDEX or _is_view(request)):
            return await self.page(request)
        return _file(request, asset)


def _is_view(request: web.Request) -> bool:
    accept = ",".join(request.headers.getall(hdrs.ACCEPT, []))
    first = request.path.split("/")[1]
    # Names of files contain a dot, paths of views do not.
    return first not in _NO_VIEWS and "." not in request.path and accepts(accept, _HTML)


def _file(request: web.Request, asset: Asset | None) -> web.StreamResponse:
    if asset is None:
        raise web.HTTPNotFound
    accept = ",".join(request.headers.getall(hdrs.ACCEPT_ENCODING, []))
    packed = bool(asset.packed) and accepts(accept, _PACKED)
    tag = f"{asset.tag}-{_PACKED}" if packed else asset.tag
    response = web.Response()
    response.etag = tag
    response.headers[hdrs.CACHE_CONTROL] = asset.cache
    if asset.packed:
        response.headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    if any(known.value in (tag, "*") for known in request.if_none_match or ()):
        response.set_status(304)
        return response
    response.headers[hdrs.CONTENT_TYPE] = asset.media
    if packed:
        response.headers[hdrs.CONTENT_ENCODING] = _PACKED
    response.body = asset.packed if packed else asset.body
    return response
