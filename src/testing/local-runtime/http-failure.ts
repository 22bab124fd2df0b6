/** A request that is refused: how, and why in a sentence for the client. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = 'HttpFailure';
    this.status = status;
    this.headers = headers;
  }
}
