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
  /** A small body. */
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

/** How many requests are kept. Within the limits below, they take a few MiB at most. */
const maxRequests = 200;
const maxBody = 4096;
const maxHeaders = 40;
const maxHeader = 200;

/** The newest requests, for people to read. */
export class RequestLog {
  #requests: readonly LoggedRequest[] = [];
  #last = 0;

  add(request: Omit<LoggedRequest, 'number'>): void {
    this.#last += 1;
    this.#requests = [{...request, number: this.#last}, ...this.#requests.slice(0, maxRequests - 1)];
  }

  /** Newest first. */
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

/** The headers of a request. */
export function requestHeaders({rawHeaders}: IncomingMessage): LoggedHeaders {
  return rawHeaders
    .flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : []))
    .flatMap(shown);
}

/** The headers of a response. */
export function responseHeaders(headers: OutgoingHttpHeaders): LoggedHeaders {
  return Object.entries(headers).flatMap(([name, value]) => shown([name, String(value)], 0));
}

function shown([name, value]: readonly [string, string], at: number): LoggedHeaders {
  if (at >= maxHeaders) return [];
  const text = mayNameSecret(name) ? masked : value.replaceAll(/[?#][^\s"'<>]+/g, maskedPairs);
  return [[flat(name.slice(0, maxHeader)), text.length <= maxHeader ? text : `${flat(text.slice(0, maxHeader))}…`]];
}

/** A query without credentials. */
export function maskedSearch(search: string): string {
  return search.length < 2 ? '' : flat(maskedPairs(search.slice(0, maxBody)));
}

/** The parameters of a query, a fragment or a form without credentials, however their names are written. */
export function maskedPairs(text: string): string {
  const parts = text.split(/([?&;#])/).map((part) => {
    const [name = ''] = part.split('=', 1);
    const decoded = part.length > name.length + 1 ? decodedName(name) : '';
    // The code of an OAuth login can be exchanged for a token. In JSON, it is the code of an error.
    return mayNameSecret(decoded) || decoded === 'code' ? `${name}=${masked}` : part;
  });
  return parts.join('');
}

function decodedName(name: string): string {
  return [...new URLSearchParams(`${name}=`).keys()][0] ?? name;
}

/** A copy, because V8 keeps a whole string in memory for as long as a slice of it. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}
