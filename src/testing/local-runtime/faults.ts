import {createError, nearest} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';

/** What a request is for; a fault may be meant for one of them. */
export const routeNames = [
  'upload',
  'list',
  'projects',
  'download',
  'archive',
  'delete',
  'deploy',
  'history',
  'deployment',
  'target',
  'targets',
  'token',
  'site',
  'home',
] as const;

/** What a request is for. `archive` is the presigned URL of a download, `history` the list of deployments. */
export type RouteName = (typeof routeNames)[number];

/** Which requests meet a fault. */
export interface FaultScope {
  /** @default every route */
  readonly route?: RouteName | undefined;
  /** How many requests meet it. @default all */
  readonly count?: number | undefined;
}

/** A fault on request: see `parseFault()` for what each does. */
export type FaultRule = FaultScope &
  (
    | {
        readonly action: 'status';
        /** 200 to 599. */
        readonly status: number;
        /** `Retry-After` header. */
        readonly retryAfter?: string | undefined;
        /** `Location` header. */
        readonly location?: string | undefined;
        /** Bytes of the request's body after which it happens. @default the whole body */
        readonly after?: number | undefined;
      }
    | {readonly action: 'latency'; readonly milliseconds: number}
    | {
        readonly action: 'reset' | 'hang';
        /** Bytes of the request's body after which it happens. @default the whole body */
        readonly after?: number | undefined;
      }
    | {
        readonly action: 'truncate';
        /** Bytes of the answer's body that are sent. @default half of them */
        readonly after?: number | undefined;
      }
    | {readonly action: 'drop'}
    | {readonly action: 'fail'}
  );

const parametersOf: Readonly<Record<FaultRule['action'], readonly string[]>> = {
  status: ['route', 'retry-after', 'location', 'after'],
  latency: ['route'],
  reset: ['route', 'after'],
  hang: ['route', 'after'],
  truncate: ['route', 'after'],
  drop: ['route'],
  fail: ['route'],
};

/**
 * Reads a fault from text:
 *
 * ```
 * fault      = action [ "x" COUNT ] [ ":" parameter *( "," parameter ) ]
 * action     = STATUS | "latency=" MILLISECONDS | "reset" | "hang" | "truncate" | "drop" | "fail"
 * parameter  = "route=" NAME | "after=" BYTES | "retry-after=" VALUE | "location=" URL
 * ```
 *
 * - `429x2:retry-after=1`: two requests are answered 429 after their whole body. `STATUS` is 200 to 599.
 * - `429x1:route=upload,after=65536`: answered after 65,536 bytes of the body, then the connection is closed.
 * - `latency=200`: every request waits 200 ms first; goes together with another fault.
 * - `resetx1:route=upload,after=1000000`: the connection is reset after 1,000,000 bytes of the body (default: all of
 * it).
 * - `hangx1`: no answer. `truncatex1`: half of the answer (`after=N`: N bytes), then the connection ends.
 * - `dropx1`: carried out, and then the connection is reset instead of an answer.
 * - `failx1:route=deploy`: the deployment is accepted and ends as failed.
 *
 * Without a count a fault stays until `clearFaults()`; without a route it meets every request (`fail`: every
 * deployment, that is the routes `deploy` and `upload`). Of several faults for a request the first that is left counts.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` that names the text.
 */
export function parseFault(spec: string): FaultRule {
  const match = /^(?<action>[a-z]+|\d+)(?:=(?<value>\d+))?(?:x(?<count>\d+))?(?::(?<parameters>.+))?$/.exec(spec);
  const {action: word = '', value, count, parameters} = match?.groups ?? {};
  const action = /^\d+$/.test(word) ? 'status' : word;
  if (word === 'status' || !isAction(action) || (action === 'latency') !== (value !== undefined) || count === '0') {
    const meant = nearest(word, ['latency=200', ...Object.keys(parametersOf).filter((name) => name !== 'status')]);
    throw badFault(
      spec,
      `it does not have the form ACTION[xCOUNT][:PARAMETERS]${meant === undefined ? '.' : `. Did you mean "${meant}"?`}`,
    );
  }
  const given = parseParameters(spec, action, parameters);
  const scope = {route: given.route, count: count === undefined ? undefined : Number(count)};
  switch (action) {
    case 'status': {
      const status = Number(word);
      if (status < 200 || status > 599) throw badFault(spec, `${word} is not a status from 200 to 599`);
      const {retryAfter, location, after} = given;
      return {action, status, retryAfter, location, after, ...scope};
    }
    case 'latency':
      return {action, milliseconds: Number(value), ...scope};
    case 'reset':
    case 'hang':
    case 'truncate':
      return {action, after: given.after, ...scope};
    case 'drop':
    case 'fail':
      return {action, ...scope};
  }
}

interface Parameters {
  readonly route: RouteName | undefined;
  readonly after: number | undefined;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
}

function parseParameters(spec: string, action: FaultRule['action'], text: string | undefined): Parameters {
  const values = new Map<string, string>();
  // A comma that begins no parameter belongs to the value: Retry-After may be an HTTP date.
  for (const parameter of text?.split(/,(?=[a-z-]+=)/) ?? []) {
    const [, name = parameter, value = ''] = /^([a-z-]+)=(.+)$/.exec(parameter) ?? [];
    if (!parametersOf[action].includes(name) || value === '' || values.has(name)) {
      throw badFault(spec, `"${parameter}" is not one of its parameters (${parametersOf[action].join(', ')})`);
    }
    values.set(name, value);
  }
  const after = values.get('after');
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw badFault(spec, `after=${after} is not a number of bytes`);
  return {
    route: parseRoute(spec, values.get('route')),
    after: after === undefined ? undefined : Number(after),
    retryAfter: values.get('retry-after'),
    location: values.get('location'),
  };
}

function parseRoute(spec: string, name: string | undefined): RouteName | undefined {
  const route = routeNames.find((known) => known === name);
  if (name !== undefined && route === undefined) {
    throw badFault(spec, `"${name}" is not a route (${routeNames.join(', ')})`);
  }
  return route;
}

function isAction(word: string): word is FaultRule['action'] {
  return Object.hasOwn(parametersOf, word);
}

function badFault(spec: string, reason: string): Error {
  return createError('ERR_OPTION_INVALID', asSentence(`The fault "${spec}" is invalid: ${reason}`), {
    suggestions: ['Examples: 429x2:retry-after=1, latency=200, resetx1:route=upload,after=1000000, failx1.'],
  });
}

/** A fault that changes how a request is answered. */
export type AnswerFault = Exclude<FaultRule, {readonly action: 'latency' | 'fail'}>;

/** The faults that are left, in the order in which they were added. */
export class FaultBook {
  #entries: {readonly rule: FaultRule; left: number}[] = [];

  /** @throws RuntimeCliError `ERR_OPTION_INVALID` for a bad text. */
  add(rule: string | FaultRule): void {
    const parsed = typeof rule === 'string' ? parseFault(rule) : rule;
    this.#entries.push({rule: parsed, left: parsed.count ?? Infinity});
  }

  clear(): void {
    this.#entries = [];
  }

  /** Milliseconds that a request has to wait: of the first latency for its route. */
  takeLatency(route: RouteName | undefined): number {
    const rule = this.#take((rule) => rule.action === 'latency' && meets(rule, route));
    return rule?.action === 'latency' ? rule.milliseconds : 0;
  }

  /** The fault that a request meets. */
  takeAnswerFault(route: RouteName | undefined): AnswerFault | undefined {
    const rule = this.#take((rule) => isAnswerFault(rule) && meets(rule, route));
    return rule && isAnswerFault(rule) ? rule : undefined;
  }

  /** Whether the deployment that a request of `route` asks for is to end as failed. */
  takeFailure(route: 'upload' | 'deploy'): boolean {
    return this.#take((rule) => rule.action === 'fail' && meets(rule, route)) !== undefined;
  }

  #take(wanted: (rule: FaultRule) => boolean): FaultRule | undefined {
    const entry = this.#entries.find(({rule, left}) => left > 0 && wanted(rule));
    if (entry) entry.left -= 1;
    return entry?.rule;
  }
}

function isAnswerFault(rule: FaultRule): rule is AnswerFault {
  return rule.action !== 'latency' && rule.action !== 'fail';
}

function meets(rule: FaultRule, route: RouteName | undefined): boolean {
  return rule.route === undefined || rule.route === route;
}
