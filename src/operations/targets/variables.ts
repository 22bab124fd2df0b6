import type {VariableItem} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {allowChange, invoke} from '../call-backend.js';
import type {Host} from '../host.js';
import type {OpenBackend} from '../open-backend.js';
import type {DryRunOptions, GuardOptions, TargetOptions, TargetResult, WaitOptions} from '../options.js';
import {allItems} from '../pages.js';
import {explainMissing} from '../explain-missing.js';

/** What `listVariables` resolves to. */
export interface ListVariablesResult extends TargetResult {
  /** By name. Values stay on the service. */
  readonly variables: readonly VariableItem[];
}

/** Options of `setVariables`. At least one variable is set or removed. */
export interface SetVariablesOptions extends DryRunOptions, TargetOptions, WaitOptions, GuardOptions {
  /** Values by name. They are masked in errors and messages of the call. @default {} */
  readonly set?: Readonly<Record<string, string>> | undefined;
  /** Names of variables to remove. @default [] */
  readonly unset?: readonly string[] | undefined;
  /** Waits until the target is published with them. The interval is 10 s by default. @default false */
  readonly wait?: boolean | undefined;
}

/** What `setVariables` resolves to. */
export interface SetVariablesResult extends TargetResult {
  /** Names of the variables that were set. */
  readonly set: readonly string[];
  /** Names of the variables that were removed. */
  readonly unset: readonly string[];
  /** Whether it was a dry run: nothing was changed. */
  readonly dryRun: boolean;
  /** What needs attention, a sentence each. */
  readonly warnings: readonly string[];
}

export async function variablesOf(open: OpenBackend, targetSlug: string): Promise<readonly VariableItem[]> {
  const variables = await allItems((range) => invoke(open, 'listVariables', {...range, targetSlug})).catch(
    explainMissing(open, {targetSlug, capability: 'variables'}),
  );
  return variables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Checks changes of variables before anything is sent. Messages have no values.
 * @throws RuntimeCliError `ERR_OPTION_INVALID`
 */
export function checkVariables({set = {}, unset = []}: Pick<SetVariablesOptions, 'set' | 'unset'>): void {
  const names = [...Object.keys(set), ...unset];
  const wrong = names.find((name) => !variableName.test(name));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  const [unfit] = Object.entries(set).find(([, value]) => typeof value !== 'string' || value.includes('\0')) ?? [];
  const problem =
    names.length === 0
      ? 'There is no variable to set or remove.'
      : wrong !== undefined
        ? `${JSON.stringify(wrong.replace(/=.*/s, '=…'))} is not the name of a variable: letters, digits and underscores, no digit first.`
        : twice !== undefined
          ? `The variable ${twice} is given twice.`
          : unfit !== undefined
            ? `The value of ${unfit} must be a string without null characters.`
            : undefined;
  if (problem !== undefined) throw createError('ERR_OPTION_INVALID', problem);
}

/** A host whose messages and errors mask these values. Other output may have the same words: `production`. */
export function maskingHost<Masking extends Host>(
  host: Masking,
  {set = {}}: Pick<SetVariablesOptions, 'set'>,
): Masking {
  return {...host, secrets: [...(host.secrets ?? []), ...Object.values(set)]};
}

export async function setVariablesOn(
  open: OpenBackend,
  {targetSlug, set = {}, unset = [], dryRun = false}: SetVariablesOptions,
): Promise<void> {
  const variables = [...Object.keys(set), ...unset];
  await allowChange(open, {operation: 'set-variables', targetSlug, variables, dryRun});
  if (dryRun) return;
  await invoke(open, 'setVariables', {targetSlug, set, unset}).catch(
    explainMissing(open, {targetSlug, capability: 'set-variables'}),
  );
}
