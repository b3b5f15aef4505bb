/** The address of a gateway and the key for it. */
export interface Gateway {
  readonly url: string;
  readonly key: string;
}

/** From `#url=…&key=…`; browsers do not send fragments to servers. */
export function gatewayFromFragment(hash: string): Gateway | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const url = params.get('url');
  const key = params.get('key');
  return url && key ? { url, key } : undefined;
}

/** The fragment that `gatewayFromFragment` reads. */
export function fragmentOf(gateway: Gateway): string {
  return `#${new URLSearchParams({ url: gateway.url, key: gateway.key })}`;
}
