import type {ClientRequest, IncomingMessage} from 'node:http';
import type {GotReturn, HandlerFunction, Options, Request} from 'got';
import {HttpCall, describeRequest, statusName} from './connection/attempt.js';
import {limitAnswer, watchRequest} from './connection/watch.js';
import {failureReason, redactorFor, toCliError, type ErrorContext} from './errors/failure.js';
import {responseError} from './errors/response-error.js';
import type {TimeLimits} from './time-limits.js';
import {RequestCount} from './rate-limit/hooks.js';
import type {Logger} from './types.js';

interface CallHandlerContext {
  readonly limits: TimeLimits;
  readonly errors: ErrorContext;
  readonly logger: Pick<Logger, 'debug'>;
}

/** got's handler for each call: tracks attempts, enforces limits, and makes failures errors of the catalogue. */
export function createCallHandler(context: CallHandlerContext): HandlerFunction {
  return <T extends GotReturn>(options: Options, next: (options: Options) => T): T | Promise<T> => {
    const [call, rateLimit] = [new HttpCall(), new RequestCount()];
    // A request that is sent once at most has no retries left.
    if (options.context['once'] === true) call.repeats = rateLimit.retries = Infinity;
    options.context = {...options.context, call, rateLimit};
    const result = next(options);
    const bytesDelivered = () => (isStream(result) ? result.downloadProgress.transferred : 0);
    const follow = (request: ClientRequest) => followRequest(request, call, options, {...context, bytesDelivered});
    const mapped = (error: unknown) => toCliError(error, options, call, context.errors);
    if (isStream(result)) {
      result.on('request', follow);
      mapStreamErrors(result, mapped);
      return result;
    }
    void result.on('request', follow);
    const rethrow = (error: unknown) => {
      throw mapped(error);
    };
    const json = result.json.bind(result);
    const settled = Promise.resolve<unknown>(result)
      .catch(rethrow)
      .finally(() => call.attempt.end());
    // got adds its own promise's members unless they exist already. Its `json` would reject with an error that holds
    // the whole request, including credentials.
    const readable = Object.assign(settled, {json: async () => settled.then(json).catch(rethrow)});
    // got's T is the promise itself; the type cannot express that awaiting it yields the same.
    return readable as Promise<T>;
  };
}

function isStream(result: GotReturn): result is Request {
  return '_destroy' in result;
}

function followRequest(
  request: ClientRequest,
  call: HttpCall,
  options: Options,
  context: CallHandlerContext & {readonly bytesDelivered: () => number},
): void {
  const {limits, errors, logger, bytesDelivered} = context;
  // Streams pass the body on without holding it.
  const isHeld = ({statusCode = 0}: IncomingMessage) => !options.isStream || statusCode >= 300;
  watchRequest(request, call, limits, isHeld, bytesDelivered);
  logAttempt(request, options, logger);
  request.once('response', (response) => {
    const {statusCode = 0, headers} = response;
    // got considers a redirect that it does not follow a success.
    if (statusCode >= 300 && statusCode < 400 && options.throwHttpErrors) {
      call.failure = responseError({statusCode, headers, request: {options}}, redactorFor(options, errors));
      request.destroy(call.failure);
    }
    if (isHeld(response)) limitAnswer(request, response, call);
  });
}

/** Logs a request, its response and the duration. Never the query or headers except the length: those may be secret. */
function logAttempt(request: ClientRequest, options: Options, logger: CallHandlerContext['logger']): void {
  const {method, path, host} = describeRequest(options);
  const length = request.getHeader('content-length');
  const began = performance.now();
  const tell = (what: string) => {
    logger.debug(`${method} ${path}: ${what} after ${Math.round(performance.now() - began)} ms`);
  };
  logger.debug(`${method} ${path} to ${host}${length === undefined ? '' : `, ${String(length)} bytes`}`);
  request.once('response', ({statusCode = 0}) => tell(statusName(statusCode)));
  request.once('error', (error) => tell(failureReason(error)));
}

/** All errors of a stream pass through its `_destroy`; got's error hook does not see aborts. */
function mapStreamErrors(stream: Request, mapped: (error: unknown) => unknown): void {
  const destroy = stream._destroy.bind(stream);
  stream._destroy = (error, callback) =>
    destroy(error, (failure) => callback(failure instanceof Error ? asError(mapped(failure)) : failure));
}

/** A reason to abort may be anything. */
function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
