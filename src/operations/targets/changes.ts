import type {InvalidateOptions, SetVariablesOptions, TargetChangeOptions} from './options.js';
import type {BackendCapability, DeployOperation, PlannedWrite, WriteOperation} from '../../backends/contract.js';
import prettyBytes from 'pretty-bytes';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {count} from '../../text/sentence.js';
import {shellLine} from '../../text/suggest.js';
import {allowChange, invoke, quickLook} from '../call-backend.js';
import {explainMissing} from '../explain-missing.js';
import type {OpenBackend} from '../open-backend.js';
import type {DryRunOptions} from '../options.js';
import {variablesOf} from './compare-target.js';
import {knownTarget, warnOfNear} from './find-targets.js';

// The simple changes of a target: a row each, from which a call of the library and a command are made.

interface TargetRequest {
  readonly targetSlug: string;
}

export interface TargetChange<Options extends TargetChangeOptions, Request extends TargetRequest, Made extends object> {
  /** As hooks, guards and `MYCLI_SAFETY` know it. */
  readonly operation: Exclude<WriteOperation, DeployOperation | 'delete' | 'create-target'>;
  readonly capability: BackendCapability;
  /** The step, as events have it. */
  readonly name: string;
  readonly title: (request: Request) => string;
  /** What it has done, or with a dry run would do. */
  readonly outcome: (request: Request, dryRun: boolean) => string;
  /** @throws RuntimeCliError `ERR_OPTION_INVALID` for what cannot be sent */
  readonly request: (options: Options) => Request;
  /** What of it would change something, as far as the target tells. Undefined: nothing. @default all of it */
  readonly narrow?: (open: OpenBackend, request: Request) => Promise<Request | undefined>;
  readonly send: (open: OpenBackend, request: Request) => Promise<void>;
  /** What the result says of it. Without a request, nothing was changed. */
  readonly made: (request?: Request) => Made;
  /** What hooks are told of it. @default only that it is made */
  readonly planned?: (request: Request) => Pick<PlannedWrite, 'variables'>;
  /** Values that messages and errors mask. @default none */
  readonly secrets?: (request: Request) => readonly string[];
}

/** Makes a change once that is allowed. A dry run looks whether the target is there. */
export async function makeChange<Request extends TargetRequest>(
  open: OpenBackend,
  change: Pick<TargetChange<never, Request, object>, 'operation' | 'capability' | 'planned' | 'send'>,
  request: Request,
  {dryRun = false}: DryRunOptions = {},
): Promise<void> {
  const {operation, capability, planned, send} = change;
  const {targetSlug} = request;
  await allowChange(open, {operation, targetSlug, ...planned?.(request), dryRun});
  if (dryRun) await knownTarget(open, targetSlug);
  else await send(open, request).catch(explainMissing(open, {targetSlug, capability}));
}

function row<Options extends TargetChangeOptions, Request extends TargetRequest, Made extends object>(
  change: TargetChange<Options, Request, Made>,
) {
  return change;
}

/** The patterns of a call. @throws RuntimeCliError `ERR_OPTION_INVALID` */
export function invalidatedPatterns({patterns = []}: Pick<InvalidateOptions, 'patterns'>): readonly string[] {
  const wrong = patterns.find((pattern) => !/^\/\P{Cc}*$/u.test(pattern));
  if (wrong === undefined) return patterns.length === 0 ? ['/*'] : [...new Set(patterns)];
  const asTarget = /^[a-z\d-]+$/.test(wrong) ? [`If it is the target, pass ${shellLine('--target', wrong)}.`] : [];
  throw createError('ERR_OPTION_INVALID', `${JSON.stringify(wrong)} cannot be invalidated: it must start with /.`, {
    suggestions: [...asTarget, 'Use paths as browsers request them, such as "/*" or "/images/*".'],
  });
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why variables cannot be changed. It has no values. */
function problemOfVariables({set = {}, unset = []}: Pick<SetVariablesOptions, 'set' | 'unset'>): string | undefined {
  const names = [...Object.keys(set), ...unset];
  if (names.length === 0) return 'There is no variable to set or remove.';
  const wrong = names.find((name) => !variableName.test(name));
  if (wrong !== undefined) {
    const shown = JSON.stringify(wrong.replace(/=.*/s, '=…'));
    return `${shown} is not the name of a variable: letters, digits and underscores, no digit first.`;
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `The variable ${twice} is given twice.`;
  const [unfit] = Object.entries(set).find(([, value]) => typeof value !== 'string' || value.includes('\0')) ?? [];
  return unfit && `The value of ${unfit} must be a string without null characters.`;
}

/** Says which variables a request was too large for. */
function withSizes(error: RuntimeCliError, set: Readonly<Record<string, string>>): RuntimeCliError {
  const sizes = Object.entries(set).map(([name, value]) => ({name, bytes: Buffer.byteLength(value)}));
  const largest = sizes.sort((one, other) => other.bytes - one.bytes).slice(0, 3);
  const names = largest.map(({name, bytes}) => `${name} (${prettyBytes(bytes)})`).join(', ');
  const apart = sizes.length > 1 ? 'set fewer at once' : 'split it into several variables, each set on its own';
  return amendError(error, {suggestions: [`Shorten ${names}, or ${apart}.`]});
}

export const targetChanges = {
  invalidate: row({
    operation: 'invalidate',
    capability: 'invalidate',
    name: 'invalidate',
    title: ({targetSlug}) => `Invalidate the cache of ${targetSlug}`,
    outcome: ({targetSlug, patterns}, dryRun) =>
      `${dryRun ? 'Would invalidate' : 'Invalidating'} ${patterns.join(', ')} of ${targetSlug}`,
    request: ({targetSlug, patterns}: InvalidateOptions) => ({targetSlug, patterns: invalidatedPatterns({patterns})}),
    async send(open, {targetSlug, patterns}) {
      for (const pattern of patterns) await invoke(open, 'invalidate', {targetSlug, pattern});
    },
    made: (request) => ({patterns: request?.patterns ?? []}),
  }),
  setVariables: row({
    operation: 'set-variables',
    capability: 'set-variables',
    name: 'set',
    title: ({targetSlug}) => `Change the variables of ${targetSlug}`,
    outcome({targetSlug, set, unset}, dryRun) {
      const variables = count(Object.keys(set).length + unset.length, 'variable');
      return `${dryRun ? 'Would change' : 'Changed'} ${variables} of ${targetSlug}`;
    },
    request({targetSlug, set = {}, unset = []}: SetVariablesOptions) {
      const problem = problemOfVariables({set, unset});
      if (problem !== undefined) throw createError('ERR_OPTION_INVALID', problem);
      return {targetSlug, set, unset};
    },
    async narrow(open, request) {
      if (Object.keys(request.set).length > 0 || open.backend.listVariables === undefined) return request;
      const variables = await quickLook(open, (again) => variablesOf(again, request.targetSlug));
      if (variables === undefined) return request;
      const names = variables.map(({name}) => name);
      const unset = request.unset.filter((name) => names.includes(name));
      for (const name of request.unset) if (!unset.includes(name)) warnOfNear(open, name, names);
      return unset.length === 0 ? undefined : {...request, unset};
    },
    async send(open, request) {
      await invoke(open, 'setVariables', request).catch((error: unknown) => {
        // Only an answer of the service is about one request: a limit that a plugin tells of may be that of the target.
        const isAnswer = isRuntimeCliError(error) && error.status === 413 && error.method !== undefined;
        throw isAnswer ? withSizes(error, request.set) : error;
      });
    },
    made: (request) => ({set: Object.keys(request?.set ?? {}), unset: request?.unset ?? []}),
    planned: ({set, unset}) => ({variables: [...Object.keys(set), ...unset]}),
    secrets: ({set}) => Object.values(set),
  }),
};
