import type {IncomingMessage, OutgoingHttpHeaders} from 'node:http';
import {mayNameSecret} from '../http/redact.js';
import type {RequestRecord} from './options.js';

/** A part of an upload: a field of a form, or a member of a JSON document. */
export interface BodyPart {
  readonly name: string;
  readonly bytes: number;
}

/** The headers of a message as sent, without credentials. */
type LoggedHeaders = readonly (readonly [name: string, value: string])[];

/** A request with its response. Credentials may only be in the excerpts of the bodies. */
export interface LoggedRequest extends RequestRecord {
  /** Counts the requests, from 1. */
  readonly number: number;
  /** When it arrived, in ISO 8601. */
  readonly at: string;
  /** Whether it went to an app rather than to the API. */
  readonly isForApp: boolean;
  /** The query, including "?"; empty if there is none. */
  readonly search: string;
  readonly requestHeaders: LoggedHeaders;
  readonly requestBody?: string | undefined;
  /** The parts of an upload, which is not kept. */
  readonly requestParts: readonly BodyPart[];
  readonly responseHeaders: LoggedHeaders;
  readonly responseBody?: string | undefined;
  /** Bytes of the response, headers included. */
  readonly bytesSent: number;
  /** The faults that applied, in the syntax of `parseFault()`. */
  readonly appliedFaults: readonly string[];
}

/** How many requests are kept with their headers and bodies, and how many in all. */
const maxDetailed = 200;
const maxRecords = 1000;
/** Characters of a body or a query that is kept. */
const maxBody = 4096;

/** The newest requests. */
export class RequestLog {
  /** Oldest first, for programs. */
  readonly records: RequestRecord[] = [];
  #requests: readonly LoggedRequest[] = [];
  #last = 0;
  readonly #onRequest: (record: RequestRecord) => void;

  constructor(onRequest: (record: RequestRecord) => void = () => undefined) {
    this.#onRequest = onRequest;
  }

  add(record: RequestRecord, details: Omit<LoggedRequest, 'number' | keyof RequestRecord>): void {
    this.#last += 1;
    const request = {...record, ...details, number: this.#last};
    this.#requests = [request, ...this.#requests.slice(0, maxDetailed - 1)];
    this.records.push(record);
    if (this.records.length > maxRecords) this.records.shift();
    this.#onRequest(record);
  }

  /** Newest first, for people. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }
}

/** A body that is small enough to be kept. */
export function excerptOf(text: string): string | undefined {
  return text.length <= maxBody ? text : undefined;
}

/** What is shown instead of a secret. */
export const masked = '***';

export function requestHeaders({rawHeaders}: IncomingMessage): LoggedHeaders {
  return rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [shown(name, rawHeaders[at + 1])] : []));
}

export function responseHeaders(headers: OutgoingHttpHeaders): LoggedHeaders {
  return Object.entries(headers).map(([name, value]) => shown(name, value));
}

function shown(name: string, value: unknown): readonly [string, string] {
  return [name, mayNameSecret(name) ? masked : String(value).replaceAll(/[?#][^\s"'<>]+/g, maskedPairs)];
}

/** A query without credentials. */
export function maskedSearch(search: string): string {
  return search.length < 2 ? '' : maskedPairs(search.slice(0, maxBody));
}

/** The parameters of a query, a fragment or a form without credentials, however their names are written. */
export function maskedPairs(text: string): string {
  const parts = text.split(/([?&;#])/).map((part) => {
    const [name = ''] = part.split('=', 1);
    const [decoded = name] = part.length > name.length + 1 ? new URLSearchParams(`${name}=`).keys() : [''];
    // The code of an OAuth login can be exchanged for a token. In JSON, it is the code of an error.
    return mayNameSecret(decoded) || decoded === 'code' ? `${name}=${masked}` : part;
  });
  return parts.join('');
}
