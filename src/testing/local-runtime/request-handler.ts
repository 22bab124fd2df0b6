import {randomUUID} from 'node:crypto';
import {once} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {setTimeout as delay} from 'node:timers/promises';
import {systemCode} from '../../errors/system-failure.js';
import type {Answer} from './answer.js';
import type {Call, Protocol, RuntimeContext} from './context.js';
import type {AnswerFault} from './fault-book.js';
import type {RouteName} from './faults.js';
import {HttpFailure} from './http-failure.js';
import {matchRoute, type RouteMatch} from './match-route.js';
import type {RequestRecord} from './options.js';
import {checkHost} from './protocols/admission.js';
import {apiProtocol} from './protocols/api-protocol.js';
import {archiveProtocol} from './protocols/archive-protocol.js';
import {legacyProtocol} from './protocols/legacy-protocol.js';
import {siteProtocol} from './protocols/site-protocol.js';
import {tokenProtocol} from './protocols/token-protocol.js';
import {RequestBody} from './request-body.js';
import {sendAnswer} from './send-answer.js';

/** By prefix, the first that fits. */
const protocols: readonly Protocol[] = [tokenProtocol, archiveProtocol, legacyProtocol, apiProtocol];

/** What is found out about a request while it is handled, for its record. */
interface Findings {
  route?: RouteName;
  fault?: AnswerFault['action'] | 'latency';
}

/** Handles one request to its end; never rejects. */
export async function handleRequest(
  context: RuntimeContext,
  {request, response}: {readonly request: IncomingMessage; readonly response: ServerResponse},
  onEnd: (record: RequestRecord) => void,
): Promise<void> {
  const findings: Findings = {};
  const requestId = randomUUID();
  const url = request.url ?? '/';
  const [path = '/'] = url.split('?', 1);
  const search = url.slice(path.length);
  const body = new RequestBody(request, context.stallSeconds);
  const origin = `http://${request.headers.host ?? ''}`;
  const call: Call = {context, request, body, path, search, origin, query: new URLSearchParams(search), params: {}};
  recordAtEnd(call, response, {requestId, findings, onEnd});
  response.setHeader('x-request-id', requestId);
  try {
    const {answer, fault} = await answerTo(call, response, findings);
    if (answer) await sendAnswer(call, response, {answer, fault});
  } catch {
    // The connection is gone, or broke in the middle of the answer: nobody is left to be told.
    response.destroy();
  }
}

interface Outcome {
  /** None when the request was not to be answered. */
  readonly answer: Answer | undefined;
  readonly fault: AnswerFault | undefined;
}

async function answerTo(call: Call, response: ServerResponse, findings: Findings): Promise<Outcome> {
  const {context, request, body, path} = call;
  const protocol = protocols.find(({prefix}) => path.startsWith(prefix)) ?? siteProtocol;
  let fault: AnswerFault | undefined;
  try {
    checkHost(request, context);
    const match = tryMatch(protocol, call);
    const route = match instanceof HttpFailure ? undefined : match.route.name;
    if (route !== undefined) findings.route = route;
    const milliseconds = context.faults.takeLatency(route);
    if (milliseconds > 0) {
      findings.fault = 'latency';
      await wait(milliseconds, response);
    }
    fault = context.faults.takeAnswerFault(route);
    if (fault) findings.fault = fault.action;
    switch (fault?.action) {
      case 'status':
        await body.discard(fault.after ?? Infinity);
        return {answer: protocol.failure(statusFailure(fault)), fault};
      case 'reset':
      case 'hang':
        await body.discard(fault.after ?? Infinity);
        if (fault.action === 'reset') request.socket.resetAndDestroy();
        if (!response.closed) await once(response, 'close');
        return {answer: undefined, fault};
      case 'truncate':
      case 'drop':
      case undefined:
    }
    if (match instanceof HttpFailure) throw match;
    const admitted = {...call, params: match.params};
    return {answer: await match.route.handle({...admitted, user: protocol.admit(admitted)}), fault};
  } catch (error) {
    if (body.isBroken || response.closed) throw error;
    return {answer: protocol.failure(asFailure(error)), fault};
  }
}

/** Waits as long as somebody is there to be answered. */
async function wait(milliseconds: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    gone.abort();
  });
  await delay(milliseconds, undefined, {signal: gone.signal});
}

function tryMatch(protocol: Protocol, {request, path}: Call): RouteMatch | HttpFailure {
  try {
    return matchRoute(protocol, request.method ?? 'GET', path);
  } catch (error) {
    if (error instanceof HttpFailure) return error;
    throw error;
  }
}

function statusFailure(fault: Extract<AnswerFault, {readonly action: 'status'}>): HttpFailure {
  const {status, retryAfter, location} = fault;
  return new HttpFailure(status, `A fault on request: ${String(status)}.`, {
    ...(retryAfter === undefined ? {} : {'retry-after': retryAfter}),
    ...(location === undefined ? {} : {location}),
  });
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = systemCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new HttpFailure(507, 'The disk of the local runtime is full.');
  return new HttpFailure(500, `The local runtime failed: ${error instanceof Error ? error.message : String(error)}.`);
}

function recordAtEnd(
  {request, body, path}: Call,
  response: ServerResponse,
  {
    requestId,
    findings,
    onEnd,
  }: {readonly requestId: string; readonly findings: Findings; readonly onEnd: (record: RequestRecord) => void},
): void {
  const started = performance.now();
  response.once('close', () => {
    onEnd({
      method: request.method ?? 'GET',
      path,
      status: response.headersSent ? response.statusCode : 0,
      route: findings.route,
      bytesReceived: body.bytes,
      durationMs: Math.round(performance.now() - started),
      fault: findings.fault,
      userAgent: request.headers['user-agent'],
      requestId,
    });
  });
}
