import type {IncomingHttpHeaders, OutgoingHttpHeaders} from 'node:http';
import {answerOf, departures, operationAt, operations, type Operation} from './contract.js';
import {wirePath} from './recorder.js';

/** A request and its answer. Of long bodies, the start and the end. */
export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if not all of it has arrived. */
  readonly body: Buffer | undefined;
  readonly status: number;
  readonly answerHeaders: OutgoingHttpHeaders;
  /** Undefined if not all of it was sent. */
  readonly answerBody: Buffer | undefined;
}

/** Said at the port of deployed apps, where these paths are those of apps. */
const noApp = /^Nothing is deployed to "/;
const [tokenOperation, apiOperation, legacyOperation] = ['requestToken', 'apiDeploy', 'legacyDeploy'].map((name) =>
  operations.find(({id}) => id === name),
);

/** Whether an answer of a local runtime belongs to the wire, and not to what was deployed. */
export function isOfWire({url, answerHeaders, answerBody}: Exchange): boolean {
  const isApp = typeOf(answerHeaders['content-type']) === 'text/plain' && noApp.test(answerBody?.toString() ?? '');
  return wirePath.test(pathOf(url)) && !isApp;
}

const pathOf = (url: string) => url.replace(/\?.*$/s, '');
const typeOf = (value: unknown) => String(value).split(';', 1)[0]?.trim().toLowerCase();

/** The answer that an exchange is an example of, such as `apiDeploy 201`. */
export function nameOf({method, url, status}: Exchange): string | undefined {
  const found = operationAt(method, pathOf(url));
  const answer = found && answerOf(found.operation, status);
  return answer && `${found.operation.id} ${answer[0]}`;
}

/** How an answer of the local runtime departs from the document. */
export function answerProblems(exchange: Exchange): readonly string[] {
  const {method, url, status, answerHeaders, answerBody} = exchange;
  const found = operationAt(method, pathOf(url));
  if (!found) return unservedProblems(exchange);
  const {operation} = found;
  const text = answerBody?.toString('utf8') ?? '';
  const isInjected = text.includes(`Injected fault: ${String(status)}.`);
  // A fault can have any status. Its document is that of a refusal.
  const documented = answerOf(operation, status) ?? (isInjected ? answerOf(operation, 503) : undefined);
  if (!documented) return [`the status ${String(status)} is not documented`];
  const [, {headers = {}, content = {}, 'x-only-hosted': isHosted}] = documented;
  if (isInjected) return bodyProblems(operation.answers['5XX']?.content ?? {}, exchange);
  return [
    ...(isHosted === true ? [`the status ${String(status)} is documented as one of hosted services only`] : []),
    ...Object.keys(headers).flatMap((name) =>
      answerHeaders[name.toLowerCase()] === undefined ? [`it has no header ${name}`] : [],
    ),
    ...bodyProblems(content, exchange),
  ];
}

/** Nothing is served there, or not with this method. */
function unservedProblems(exchange: Exchange): readonly string[] {
  const {method, url, status, answerHeaders} = exchange;
  const served = ['GET', 'POST', 'DELETE'].flatMap((other) => operationAt(other, pathOf(url))?.operation ?? []);
  const refuser = served[0] ?? (`${pathOf(url)}/`.startsWith('/storefront/') ? apiOperation : legacyOperation);
  const refusal = refuser?.answers['5XX']?.content ?? {};
  if (status >= 400 && status !== 405) return bodyProblems(refusal, exchange);
  const allowed = (answerHeaders.allow ?? '').split(', ').sort().join();
  const expected = served.map((operation) => operation.method);
  if (status === 405 && served.length > 0 && allowed === expected.sort().join()) return bodyProblems(refusal, exchange);
  return [`${method} ${pathOf(url)} is not documented, and was answered with ${String(status)}`];
}

function bodyProblems(
  content: NonNullable<Operation['answers'][string]['content']>,
  {method, answerHeaders, answerBody}: Exchange,
): readonly string[] {
  const [type, media] = Object.entries(content)[0] ?? [];
  if (type === undefined || media === undefined) {
    return answerBody === undefined || answerBody.length === 0 ? [] : ['it has a body, which is not documented'];
  }
  if (typeOf(answerHeaders['content-type']) !== type) {
    return [`its content type is ${String(answerHeaders['content-type'])}, not ${type}`];
  }
  if (method === 'HEAD' || answerBody === undefined || !type.endsWith('json')) return [];
  return departures(media.schema, JSON.parse(answerBody.toString('utf8')), 'local');
}

/** How a request of a built-in backend departs from the document. */
export function requestProblems(exchange: Exchange): readonly string[] {
  const {method, headers, url, body} = exchange;
  const isForm = typeOf(headers['content-type']) === 'application/x-www-form-urlencoded';
  const isGrant = isForm && body?.includes('grant_type=client_credentials') === true;
  // The service may be below a path, and the token endpoint anywhere.
  const path = pathOf(url).replace(/^.*?(?=\/(?:api|storefront)\/)/, '');
  const found =
    operationAt(method, path) ?? (isGrant && tokenOperation ? {operation: tokenOperation, values: {}} : undefined);
  // Another kind of grant, of a plugin.
  if (!found) return isForm ? [] : [`${method} ${path} is not documented`];
  const {operation, values} = found;
  return [
    // Setting up a project asks an unknown address, without credentials, what it is.
    ...(exchange.status === 401 ? [] : credentialProblems(operation, headers.authorization)),
    ...parameterProblems(operation, values, new URLSearchParams(url.slice(pathOf(url).length))),
    ...sentBodyProblems(operation, exchange),
  ];
}

function credentialProblems({schemes, isOpen}: Operation, header: string | undefined): readonly string[] {
  if (isOpen && header === undefined) return [];
  const scheme = /^(\S+) \S+$/.exec(header ?? '')?.[1];
  if (schemes.length === 0) return header === undefined ? [] : ['it has credentials, which it does not need'];
  return scheme !== undefined && schemes.includes(scheme) ? [] : [`its credentials are not ${schemes.join(' or ')}`];
}

function parameterProblems(
  {id, parameters}: Operation,
  values: Readonly<Record<string, string>>,
  query: URLSearchParams,
): readonly string[] {
  const known = parameters.filter((parameter) => parameter.in === 'query').map(({name}) => name);
  // The URL of the token endpoint is configured, and that of an archive given, with any query.
  const hasAnyQuery = id === 'requestToken' || id === 'downloadArchive';
  const unknown = hasAnyQuery ? [] : [...query.keys()].filter((name) => !known.includes(name));
  return [
    ...unknown.map((name) => `the query parameter ${name} is not documented`),
    ...parameters.flatMap(({name, in: place, required, schema}) => {
      const value = (place === 'path' ? values[name] : place === 'query' ? query.get(name) : undefined) ?? undefined;
      if (value === undefined) {
        return required === true && place === 'query' ? [`the query parameter ${name} is missing`] : [];
      }
      // The host checks names before it calls a backend, which only has to encode them.
      if (place === 'path' && schema['type'] === 'string') return [];
      const typed = schema['type'] === 'integer' && /^\d+$/.test(value) ? Number(value) : value;
      return departures(schema, typed, 'request').map((problem) => `${name}: ${problem}`);
    }),
  ];
}

function sentBodyProblems({bodyType, bodySchema}: Operation, {headers, body}: Exchange): readonly string[] {
  if (bodyType === undefined || bodySchema === undefined) {
    return body === undefined || body.length === 0 ? [] : ['it has a body, which is not documented'];
  }
  const type = headers['content-type'];
  if (typeOf(type) !== bodyType) return [`its content type is ${String(type)}, not ${bodyType}`];
  if (body === undefined) return [];
  return departures(bodySchema, parsed(body, String(type)), 'request');
}

/** A body as a value. The archive of a form counts as an empty string. */
function parsed(body: Buffer, type: string): unknown {
  if (typeOf(type) === 'application/json') return JSON.parse(body.toString('utf8'));
  if (typeOf(type) !== 'multipart/form-data') return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? '';
  const parts = body.toString('utf8').split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n');
      const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
      const isFile = /filename="[^"]+"/.test(head) && /content-type: application\/octet-stream/i.test(head);
      if (name === 'bundle') return [isFile ? name : 'a bundle that is not a file', ''];
      return [name, rest.join('\r\n\r\n').replace(/\r\n$/, '')];
    }),
  );
}
