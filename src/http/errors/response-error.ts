import {STATUS_CODES, type IncomingHttpHeaders} from 'node:http';
import {createError, type ErrorCode, type RuntimeCliError} from '../../errors/index.js';
import {textOrJson, tryJson} from '../../text/json.js';
import {describeRequest, statusName, type RequestOptions} from '../connection/attempt.js';
import {asSentence, oneLine} from '../../text/sentence.js';
import {checkBeforeRetrying, refusedCredentials, type Suggestion} from '../../errors/suggestion.js';

const requestIdHeaders = [
  'x-request-id',
  'x-correlation-id',
  'request-id',
  'x-amzn-requestid',
  'x-amz-request-id',
  'cf-ray',
];

export interface RefusingResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody?: Buffer | undefined;
  readonly request: {readonly options: Pick<RequestOptions, 'method' | 'url'>};
}

/** What to say of a request that failed, and what to do. */
export type Explanation = readonly [code: ErrorCode, sentence: string, ...suggestions: readonly Suggestion[]];

interface RefusedRequest {
  /** Whether `rateLimit.statusCodes` has the status, so the retries are used up. */
  readonly limited?: boolean;
  readonly isWrite?: boolean;
  /** Whether the server may have had the whole request when it answered. @default true */
  readonly isWhole?: boolean;
  /** Whether the service speaks JSON, so that no web page is its own. */
  readonly speaksJson?: boolean;
}

/** Statuses that mean nothing if a web page came with them: a firewall answers so, a proxy, and any other site. */
const pageStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 415]);

/** Whether something in front of the service answered for it: a firewall, or a proxy that wants a login. */
export function isFromBetween(
  {statusCode, headers, rawBody}: Omit<RefusingResponse, 'request'>,
  speaksJson: boolean,
): boolean {
  if (statusCode === 511) return true;
  if (!pageStatuses.has(statusCode)) return false;
  if (headers['cf-mitigated'] !== undefined || /^akamaighost/i.test(String(headers['server'] ?? ''))) return true;
  const body = rawBody?.toString() ?? '';
  const isHtml = /html/i.test(headers['content-type'] ?? '') && tryJson(body) === undefined;
  return speaksJson && (isHtml || /^\s*<(?:!doctype\s+html|html)\b/i.test(body));
}

/** Whether the service says that it is read-only for now. */
export function isReadOnly(headers: RefusingResponse['headers']): boolean {
  return String(headers['x-mrt-read-only']).toLowerCase() === 'true';
}

/** Whether it refused a request because of that. */
export function isMaintenance(response: Pick<RefusingResponse, 'statusCode' | 'headers'> | undefined): boolean {
  return response?.statusCode === 503 && isReadOnly(response.headers);
}

/** With these, a gateway gives up on a service that may still carry out the request. */
export const unclearStatuses: ReadonlySet<number> = new Set([408, 502, 504]);

export function responseError(
  response: RefusingResponse,
  redact: (text: string) => string,
  refused: RefusedRequest = {},
): RuntimeCliError {
  const {statusCode: status, headers} = response;
  const {method, path: unsafePath} = describeRequest(response.request.options);
  const path = redact(unsafePath);
  const [code, sentence, ...suggestions] = refusal(response, `${method} ${path}`, refused);
  const explanation = serverMessage(response.rawBody?.toString() ?? '', redact, status);
  const requestId = requestIdHeaders.map((name) => headers[name]).find((value) => typeof value === 'string');
  return createError(code, asSentence(redact(explanation === undefined ? sentence : `${sentence}: ${explanation}`)), {
    status,
    method,
    path,
    requestId: typeof requestId === 'string' ? oneLine(redact(requestId)).slice(0, 200) : undefined,
    details: explanation === undefined ? undefined : {serverMessage: explanation},
    suggestions: suggestions.map((advice) => (typeof advice === 'string' ? oneLine(redact(advice)) : advice)),
  });
}

const refusals: Readonly<Record<number, (request: string, name: string) => Explanation>> = {
  401: (request, name) => [
    'ERR_UNAUTHORIZED',
    `The server refused the credentials for ${request} (${name})`,
    refusedCredentials,
  ],
  403: (request, name) => [
    'ERR_FORBIDDEN',
    `The credentials do not allow ${request} (${name})`,
    'Check the project slug and the permissions of the credentials.',
  ],
  404: (request) => [
    'ERR_REJECTED',
    `${request}: not found (404)`,
    'Check the URL of the server, the project and the target.',
  ],
  407: (request, name) => [
    'ERR_REJECTED',
    `The proxy requires credentials for ${request} (${name})`,
    'Set HTTP_PROXY or HTTPS_PROXY to http://USER:PASSWORD@HOST:PORT.',
  ],
  413: (request) => [
    'ERR_REJECTED',
    `${request}: request too large (413)`,
    // Uploads are sent with POST or PUT.
    ...(request.startsWith('PATCH ') ? [] : ['In .bundleignore, exclude what the bundle does not need.']),
  ],
};

function refusal(
  response: RefusingResponse,
  request: string,
  {limited, isWrite = false, isWhole = true, speaksJson = false}: RefusedRequest,
): Explanation {
  const {statusCode: status, headers} = response;
  const name = statusName(status);
  if (isMaintenance(response)) {
    const sentence = 'The service is read-only for maintenance; nothing was changed';
    return ['ERR_MAINTENANCE', sentence, 'Try again when the maintenance is over.'];
  }
  if (limited || status === 429) {
    return [
      'ERR_RATE_LIMITED',
      `The server still rate-limits ${request} (${name})`,
      limited === false
        ? `Try again later, or add ${status} to rateLimit.statusCodes in mycli.config, so that it is retried.`
        : 'Try again later, or allow more retries with --max-retries, and longer waits with rateLimit.maxDelayMs in mycli.config.',
    ];
  }
  if (isFromBetween(response, speaksJson)) {
    return [
      'ERR_NETWORK',
      `Something between you and the service answered ${request} (${name})`,
      'Check the address, try another network, or ask whoever runs the firewall, proxy or VPN to let mycli through.',
    ];
  }
  const check = isWrite && isWhole ? [checkBeforeRetrying] : [];
  const isUnclear = unclearStatuses.has(status);
  if (isWrite && !isWhole && (isUnclear || status >= 500)) {
    const sentence = `${request} was answered with ${name} before all of it was sent, so nothing was changed`;
    return [status >= 500 ? 'ERR_SERVER' : 'ERR_REJECTED', sentence, 'Try again later.'];
  }
  if (isWrite && isUnclear)
    return ['ERR_OUTCOME_UNKNOWN', `${request} may have been carried out: it was answered with ${name}`, ...check];
  if (status >= 500) {
    const report = "If it persists, report it to the server's operators with the request ID.";
    const suggestions = isWrite ? [...check, report] : [`Try again later. ${report}`];
    return ['ERR_SERVER', `The server failed to handle ${request} (${name})`, ...suggestions];
  }
  if (status >= 400)
    return refusals[status]?.(request, name) ?? ['ERR_REJECTED', `The server refused ${request} (${name})`];
  if (status >= 300) {
    const where = headers.location ? `: it redirects to ${headers.location.replace(/[?#].*/s, '')}` : '';
    const sentence = `The server redirected ${request} (${name}), and redirects are not followed`;
    return ['ERR_RESPONSE_INVALID', sentence, `Check the URL of the server${where}.`];
  }
  return ['ERR_RESPONSE_INVALID', `The server returned an unexpected status for ${request}: ${name}`, ...check];
}

const longest = 300;

/** The server's explanation in one line, without the phrase of `status`; undefined for a web page. */
export function serverMessage(body: string, redact: (text: string) => string, status?: number): string | undefined {
  const text =
    fromJson(body, status === undefined ? undefined : STATUS_CODES[status]) ?? (/^\s*</.test(body) ? '' : body);
  const line = oneLine(redact(text));
  if (line === '') return undefined;
  const characters = Array.from(line);
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : line;
}

/** The `detail` or `message` of a response, plus the `title` of problem+json; all of it if it has other keys. */
function fromJson(body: string, phrase: string | undefined): string | undefined {
  const answer = tryJson(body);
  if (typeof answer === 'string') return answer;
  if (typeof answer !== 'object' || answer === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = {...answer};
  const [title, detail, message, description, error] = ['title', 'detail', 'message', 'error_description', 'error'].map(
    (key) => asText(fields[key]),
  );
  const main = detail ?? message ?? description ?? error;
  // The sentence around it has the phrase already.
  if (main === undefined)
    return title === phrase && title !== undefined ? '' : (title ?? (Object.keys(answer).length > 0 ? body : ''));
  return title === undefined || title === main || title === phrase ? main : `${title}: ${main}`;
}

function asText(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : textOrJson(value);
}
