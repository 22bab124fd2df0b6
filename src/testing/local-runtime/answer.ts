import type {FileHandle} from 'node:fs/promises';

/** A part of an open file; whoever sends it closes it. */
export interface FileBody {
  readonly file: FileHandle;
  readonly start: number;
  readonly length: number;
}

/** An answer to a request. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | FileBody | undefined;
}

/** An answer with a JSON body. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return {status, headers: {'content-type': 'application/json', ...headers}, body: JSON.stringify(value)};
}

/** An answer with a line of text. */
export function text(status: number, line: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {status, headers: {'content-type': 'text/plain; charset=utf-8', ...headers}, body: `${line}\n`};
}
