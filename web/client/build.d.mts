export function version(): string;
export function makePackage(target?: string): void;
export function bundleText(): Promise<string>;
