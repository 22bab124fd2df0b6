import * as v from 'valibot';
import {createError} from '../errors/index.js';
import {near} from '../text/suggest.js';
import {asSentence} from '../text/sentence.js';
import {wireRoutes} from '../wire/routes.js';

/** What a request is for. A fault can apply to one of them. */
export const routeNames = [...wireRoutes, 'site'] as const;

/** What a request is for. `archive` is the presigned URL of a download, `history` the list of deployments. */
export type RouteName = (typeof routeNames)[number];

/** Which requests a fault applies to. */
export interface FaultScope {
  /** @default every route */
  readonly route?: RouteName | undefined;
  /** How many requests it applies to. @default all */
  readonly count?: number | undefined;
}

/** An injected fault. See `parseFault()` for what each does. */
export type FaultRule = FaultScope &
  (
    | {
        /** Answers with an HTTP status. */
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
    | {
        /** Answers later. */
        readonly action: 'latency';
        /** How much later. At most 2^31 - 1. */
        readonly milliseconds: number;
      }
    | {
        /** `reset`: closes the connection. `hang`: never answers. `truncate`: sends a part of the answer. */
        readonly action: 'reset' | 'hang' | 'truncate';
        /** Bytes of the body, of the response for `truncate`. @default the whole request, half of the response */
        readonly after?: number | undefined;
      }
    | {
        /** Carries out the request, and does not answer. */
        readonly action: 'drop';
      }
    | {
        /** Accepts the deployment or, with its route, the new target, which then fails. */
        readonly action: 'fail';
      }
  );

/** What is accepted before it fails. */
const failingRoutes: readonly RouteName[] = ['deploy', 'upload', 'create-target'];

/** Timers cannot wait longer. */
const maxLatency = 2 ** 31 - 1;

const parametersOf: Readonly<Record<FaultRule['action'], readonly string[]>> = {
  status: ['route', 'retry-after', 'location', 'after'],
  latency: ['route'],
  reset: ['route', 'after'],
  hang: ['route', 'after'],
  truncate: ['route', 'after'],
  drop: ['route'],
  fail: ['route'],
};

const header = v.optional(
  v.pipe(v.string(), v.regex(/^[\t\u0020-\u007e]+$/, 'has characters that no header can have')),
);
const parametersSchema = v.object({
  route: v.optional(v.picklist(routeNames, `is not a route (${routeNames.join(', ')})`)),
  after: v.optional(v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'is not a number of bytes'), v.transform(Number))),
  'retry-after': header,
  location: header,
});

/**
 * Parses a fault:
 *
 * ```
 * fault      = action [ "x" COUNT ] [ ":" parameter *( "," parameter ) ]
 * action     = STATUS | "latency=" MILLISECONDS | "reset" | "hang" | "truncate" | "drop" | "fail"
 * parameter  = "route=" NAME | "after=" BYTES | "retry-after=" VALUE | "location=" URL
 * ```
 *
 * - `429x1:route=upload,after=65536`: answers with 429 after 65,536 bytes of the body (default: all of it).
 * - `latency=200`: delays every request by 200 ms. Can be combined with another fault.
 * - `reset`: resets the connection. `hang`: never answers. `truncate`: sends a part of the answer. `drop`: carries out
 *   the request, then resets the connection. `fail`: accepts the deployment, which then fails.
 *
 * Without a count, a fault stays until `clearFaults()`. Without a route, it applies to every request (`fail`: to every
 * deployment, so to the routes `deploy` and `upload`). If several faults apply to a request, the first one is used.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` naming the text.
 */
export function parseFault(spec: string): FaultRule {
  const match = /^(?<word>[a-z]+|\d+)(?:=(?<value>\d+))?(?:x(?<count>\d+))?(?::(?<parameters>.+))?$/.exec(spec);
  const {word = '', value, count, parameters} = match?.groups ?? {};
  const action = /^\d+$/.test(word) ? 'status' : word;
  if (word === 'status' || !isAction(action) || (action === 'latency') !== (value !== undefined) || count === '0') {
    const [meant] = near(word, ['latency=200', ...Object.keys(parametersOf).filter((name) => name !== 'status')]);
    const advice = meant === undefined ? '.' : `. Did you mean "${meant}"?`;
    throw badFault(spec, `it does not have the form ACTION[xCOUNT][:PARAMETERS]${advice}`);
  }
  // A comma that does not start a parameter belongs to the value: Retry-After can be an HTTP date.
  const pairs = (parameters?.split(/,(?=[a-z-]+=)/) ?? []).map((parameter) => parameter.split(/=(.+)/, 2));
  const names = pairs.map(([name = '']) => name);
  const stranger = names.find((name, at) => !parametersOf[action].includes(name) || names.indexOf(name) < at);
  if (stranger !== undefined) {
    throw badFault(spec, `"${stranger}" is not one of its parameters (${parametersOf[action].join(', ')})`);
  }
  const parsed = v.safeParse(parametersSchema, Object.fromEntries(pairs));
  if (!parsed.success) throw badFault(spec, `"${String(parsed.issues[0].input)}" ${parsed.issues[0].message}`);
  const {'retry-after': retryAfter, ...others} = parsed.output;
  const rule = {...others, retryAfter, count: count === undefined ? undefined : Number(count)};
  if (action === 'latency') {
    if (Number(value) > maxLatency) throw badFault(spec, `the latency is more than ${maxLatency} milliseconds`);
    return {action, milliseconds: Number(value), ...rule};
  }
  if (action !== 'status') return checked({action, ...rule}, spec);
  const status = Number(word);
  if (status < 200 || status > 599) throw badFault(spec, `${word} is not a status from 200 to 599`);
  return {action, status, ...rule};
}

function isAction(word: string): word is FaultRule['action'] {
  return Object.hasOwn(parametersOf, word);
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` for a fault that could never apply. */
function checked(rule: FaultRule, spec = faultText(rule)): FaultRule {
  if (rule.action !== 'fail' || rule.route === undefined || failingRoutes.includes(rule.route)) return rule;
  throw badFault(spec, `"fail" applies only to the routes ${failingRoutes.join(', ')}`);
}

function badFault(spec: string, reason: string): Error {
  return createError('ERR_OPTION_INVALID', asSentence(`The fault "${spec}" is invalid: ${reason}`), {
    suggestions: ['Examples: 429x2:retry-after=1, latency=200, resetx1:route=upload,after=1000000, failx1.'],
  });
}

/** A fault in the syntax of `parseFault()`. */
export function faultText(rule: FaultRule): string {
  const members: Readonly<Record<string, string | number | undefined>> = {...rule};
  const {action, status, milliseconds, count, retryAfter, ...others} = members;
  const word = status ?? (milliseconds === undefined ? action : `latency=${milliseconds}`);
  const parameters = Object.entries({...others, 'retry-after': retryAfter})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value ?? ''}`);
  const times = count === undefined ? '' : `x${count}`;
  return `${word}${times}${parameters.length === 0 ? '' : `:${parameters.join(',')}`}`;
}

type FaultOf<Action> = Extract<FaultRule, {readonly action: Action}>;

/** The remaining faults, in the order they were added. */
export class FaultBook {
  #entries: readonly {readonly number: number; readonly rule: FaultRule; left: number}[] = [];
  #last = 0;

  /** @throws RuntimeCliError `ERR_OPTION_INVALID` for an invalid rule. */
  add(fault: string | FaultRule): void {
    const rule = typeof fault === 'string' ? parseFault(fault) : checked(fault);
    this.#last += 1;
    this.#entries = [...this.list(), {number: this.#last, rule, left: rule.count ?? Infinity}];
  }

  /** Those that still apply, and to how many requests. */
  list() {
    return this.#entries.filter(({left}) => left > 0);
  }

  remove(number: number): void {
    this.#entries = this.#entries.filter((entry) => entry.number !== number);
  }

  clear(): void {
    this.#entries = [];
  }

  /** Uses the first fault with one of these actions that applies to a route. */
  take<Action extends FaultRule['action']>(
    route: RouteName | undefined,
    ...actions: readonly Action[]
  ): FaultOf<Action> | undefined {
    const isWanted = (rule: FaultRule): rule is FaultOf<Action> => actions.some((action) => action === rule.action);
    for (const entry of this.list()) {
      const {rule} = entry;
      // Without a route, only deployments fail.
      const isMeant =
        rule.route === undefined ? rule.action !== 'fail' || route !== 'create-target' : rule.route === route;
      if (!isMeant || !isWanted(rule)) continue;
      entry.left -= 1;
      return rule;
    }
    return undefined;
  }
}
