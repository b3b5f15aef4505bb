/** A timer that is set or not: never two of them. */
export class Alarm {
  #timer: ReturnType<typeof setTimeout> | undefined;

  set(wait: number, ring: () => void): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      ring();
    }, wait);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
