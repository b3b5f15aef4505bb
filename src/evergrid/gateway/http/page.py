"""What a browser sees at the gateway's address."""

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Evergrid</title>
<h1>Evergrid</h1>
<p>This is the gateway of Evergrid {version}. It serves live tables to clients that have a key.</p>
<ul>
<li><a href="/livez">/livez</a>: is it running</li>
<li><a href="/readyz">/readyz</a>: are the tables loaded</li>
<li><a href="/openapi.json">/openapi.json</a>: all that can be asked over HTTP</li>
<li>/api/tables, /api/tables/NAME/rows, /metrics: with a key</li>
<li>/api/live: the WebSocket</li>
</ul>
</html>
"""
