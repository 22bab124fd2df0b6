import * as v from 'valibot';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {isRecord} from '../text/json.js';
import {suggestNames} from '../text/suggest.js';
import {readJsonBody, wrongAnswer} from '../http/index.js';
import {isLikelySecret} from '../http/redact.js';
import type {AnsweredResponse, HttpClient, HttpOptions} from '../http/types.js';
import {bundleFields} from '../wire/bundles.js';
import {pathOf, type Operation} from '../wire/operation.js';
import type {PathParameter} from '../wire/parameters.js';
import {maxTargetName, newTargetName, newTargetSlug, numericId} from '../wire/schema.js';
import type {
  BodyOptions,
  Bundle,
  BundleId,
  DeploymentItem,
  DeploymentStatus,
  ListRange,
  ListResult,
  VariableItem,
} from './contract.js';
import type {BuiltInContext} from './host-backend.js';
import {capabilityTitle, deploymentStatuses} from './members.js';
import {backendTitle, type BuiltInName, type RuntimeBackend} from './names.js';

type Answer = Readonly<Record<string, unknown>>;

export type PathValues = Readonly<Partial<Record<PathParameter, string>>>;

/** Sends a request of the wire. @throws `ERR_CAPABILITY_UNSUPPORTED` if the service has no such operation */
export type Send = (operation: Operation, values?: PathValues, options?: HttpOptions) => Promise<AnsweredResponse>;

/** Sends requests to the service of a backend, whose paths name `project`. */
export function sender(
  backend: BuiltInName,
  http: HttpClient<AnsweredResponse>,
  origin: string,
  project: PathValues,
): Send {
  return async (operation, values, options) => {
    const {method, lacking, route, capability = route} = operation;
    try {
      return await http(`${origin}${pathOf(operation, {...project, ...values})}`, {method, ...options});
    } catch (error) {
      if (!isRuntimeCliError(error) || error.status === undefined || !lacking?.includes(error.status)) throw error;
      const {path, status} = error;
      const lacks = `This service does not support ${capabilityTitle(capability)}`;
      const message = `${lacks}: it answered ${method} ${path} with ${status}.`;
      const suggestions = status === 404 ? ['If it should, check the URL of the server and the project.'] : [];
      const details = {backend, capability};
      throw amendError(error, {code: 'ERR_CAPABILITY_UNSUPPORTED', message, advice: suggestions, details});
    }
  };
}

type Answering<Read> = Operation & {readonly answer: v.GenericSchema<unknown, Read>};

/** Reads the answer to a request: as it is described, and as it came. @throws `ERR_RESPONSE_INVALID` */
export function readAnswer<Read>(
  response: AnsweredResponse,
  {answer: schema}: Answering<Read>,
): {readonly answer: Read; readonly raw: Answer} {
  const raw = readObject(response);
  const {success, output, issues} = v.safeParse(schema, raw, {abortEarly: true});
  if (success) return {answer: output, raw};
  const [member, index] = (issues[0].path ?? []).map(({key}) => String(key));
  throw wrongAnswer(
    response,
    index === undefined ? `has no valid "${member}"` : `has an invalid item at "${member}[${index}]"`,
  );
}

/** Reads a JSON object. @throws `ERR_RESPONSE_INVALID` */
export function readObject(response: AnsweredResponse): Answer {
  const answer = readJsonBody(response);
  if (!isRecord(answer)) throw wrongAnswer(response, 'is not a JSON object');
  return answer;
}

/** What an error consists of, problem details (RFC 9457) included. */
const membersOfErrors: ReadonlySet<string> = new Set(['detail', 'message', 'title', 'type', 'code', 'instance']);

/** Reads the answer to a change; undefined if its status says it all. @throws if it looks like an error */
export function readAcceptance(response: AnsweredResponse): Answer | undefined {
  const {statusCode, body} = response;
  const saysAll = statusCode === 202 || statusCode === 204;
  if (saysAll && body === '') return undefined;
  const answer = readObject(response);
  const members = Object.keys(answer).filter((member) => (answer[member] ?? undefined) !== undefined);
  const isError = members.some((member) => member === 'error' || member === 'errors');
  // With any other member, they may be a remark of the service.
  const isOfError = (member: string) =>
    membersOfErrors.has(member) || (member === 'status' && typeof answer[member] === 'number');
  const isMessage = !saysAll && members.length > 0 && members.every(isOfError);
  if (isError || isMessage) throw wrongAnswer(response, 'looks like an error');
  return answer;
}

/** Requests and reads a part of a list, with offsets as cursors. */
export async function fetchPage<Row, Item>(
  send: Send,
  operation: Answering<{readonly rows: readonly Row[]; readonly total?: number | undefined}>,
  values: PathValues,
  {limit, cursor = '0'}: ListRange,
  toItem: (row: Row) => Item,
): Promise<ListResult<Item> & {readonly raw: Answer}> {
  const offset = Number(cursor);
  const response = await send(operation, values, {searchParams: {limit, offset}});
  const {answer, raw} = readAnswer(response, operation);
  const {rows, total} = answer;
  const items = rows.map(toItem);
  const next = offset + items.length;
  // A service that caps pages may have more after a short one.
  const isLast = items.length === 0 || next >= (total ?? Infinity);
  return {items, cursor: isLast ? undefined : String(next), total, raw};
}

const lasting: ReadonlySet<string> = new Set(['ERR_UNAUTHORIZED', 'ERR_OAUTH', 'ERR_TLS', 'ERR_MAINTENANCE']);

/** Whether a change would fail, too: the service refused the credentials, is read-only, or has a bad certificate. */
export function failsEveryRequest(error: unknown): error is RuntimeCliError {
  return isRuntimeCliError(error) && lasting.has(error.code);
}

/** Waits for the answer to a request that deploys. Both services refuse it with 409 while the target is busy. */
export async function fromTarget(request: Promise<AnsweredResponse>): Promise<AnsweredResponse> {
  try {
    return await request;
  } catch (error) {
    throw isRuntimeCliError(error) && error.status === 409 ? amendError(error, {code: 'ERR_TARGET_BUSY'}) : error;
  }
}

/** What is wrong with the slug of a target to create. */
export function newSlugProblem(targetSlug: string): string | undefined {
  if (v.safeParse(newTargetSlug, targetSlug).success) return undefined;
  return `The slug of a new target must be at most ${maxTargetName} lowercase letters, digits and inner hyphens, not "${targetSlug}".`;
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` for a target that the services do not make. They may make its slug. */
export function checkNewTarget(targetSlug: string | undefined, name: string): void {
  const nameProblem = v.is(newTargetName, name)
    ? undefined
    : `The name of a target has at most ${maxTargetName} characters.`;
  const problem = (targetSlug === undefined ? undefined : newSlugProblem(targetSlug)) ?? nameProblem;
  if (problem === undefined) return;
  const lower = targetSlug?.toLowerCase();
  const suggestions = suggestNames(v.is(newTargetSlug, lower) ? [lower] : []);
  throw createError('ERR_OPTION_INVALID', problem, {suggestions, details: {targetSlug}});
}

/** A variable without its value. Its other members may be anything. */
export function listedVariable(
  name: string,
  {status, ...updated}: {readonly status: unknown; readonly updatedAt: unknown; readonly updatedBy: unknown},
): VariableItem {
  const {updatedAt, updatedBy} = updated;
  const words = typeof status === 'number' ? String(status) : asText(status);
  return {name, status: words?.toLowerCase(), updatedAt: asText(updatedAt), updatedBy: asText(updatedBy)};
}

/** The status of a deployment in a list. The server may omit it at first, and writes it in any case. */
export function listedStatus(word: unknown = 'queued'): DeploymentItem['status'] {
  const written = typeof word === 'string' ? word.toLowerCase().replaceAll(' ', '_') : word;
  return deploymentStatuses.find((status) => status === written) ?? 'unknown';
}

/** @throws `ERR_RESPONSE_INVALID` if the status is not defined */
export function deploymentStatus(backend: BuiltInName, word: unknown): DeploymentStatus {
  const status = listedStatus(word);
  if (status !== 'unknown') return status;
  const message = `The ${backendTitle(backend)} backend returned an unknown deployment status: ${JSON.stringify(word)}.`;
  throw createError('ERR_RESPONSE_INVALID', message);
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Someone else's URL, if it is safe to show and to open. URL parsers drop white space and control characters. */
export function shownUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 2048 || /[\s\p{Cc}\p{Cf}\p{Cs}]/u.test(value)) return undefined;
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return undefined;
  const {href, username, password} = new URL(value);
  return username === '' && password === '' ? href : undefined;
}

/** What a user typed as a bundle ID of a backend whose IDs are numbers. @throws `ERR_OPTION_INVALID` */
export function requestedBundleId(value: BundleId, backend: RuntimeBackend): number {
  const id = numericId(value);
  if (id !== undefined) return id;
  // Somebody may have pasted a key.
  const isSecret = isLikelySecret(String(value));
  const shown = isSecret ? 'This' : `"${String(value)}"`;
  const message = `${shown} is not a bundle ID of the ${backendTitle(backend)} backend: its IDs are numbers.`;
  throw createError('ERR_OPTION_INVALID', message, {
    suggestions: [['Use the ID that a push printed. Run ', {run: ['bundle:list']}, ' to list the bundles.']],
    details: isSecret ? undefined : {bundleId: value},
  });
}

/** The body of a v2 upload. */
export function multipartBody(bundle: Bundle, {bodies}: Pick<BuiltInContext, 'bodies'>): BodyOptions {
  const {size, path} = bundle;
  const names = Object.keys(bundleFields.entries) as (keyof typeof bundleFields.entries)[];
  return bodies.multipart({
    file: {name: 'bundle', filename: 'bundle.tar.gz', contentType: 'application/octet-stream', source: {size, path}},
    fields: Object.fromEntries(
      names.flatMap((name) => {
        const value = bundle[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  });
}
