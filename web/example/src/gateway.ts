/** Where a gateway is, and the key to it. */
export interface Gateway {
  readonly url: string;
  readonly key: string;
}

/** From `#url=…&key=…`; fragments are never sent to a server. */
export function gatewayFromAddress(hash: string): Gateway | undefined {
  const told = new URLSearchParams(hash.replace(/^#/, ''));
  const url = told.get('url');
  const key = told.get('key');
  return url && key ? { url, key } : undefined;
}

/** What `gatewayFromAddress` understands. */
export function addressOf(gateway: Gateway): string {
  return `#${new URLSearchParams({ url: gateway.url, key: gateway.key })}`;
}
