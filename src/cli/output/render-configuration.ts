import {relative} from 'node:path';
import {inspect} from 'node:util';
import type {AppliedTarget, TargetDiff, TargetDifference} from '../../operations/targets/options.js';
import type {Redirect} from '../../backends/contract.js';
import {replaceTextFile, verifyWritable} from '../../files/write-files.js';
import {accessHeader} from '../../settings/target-settings.js';
import {asRecord} from '../../text/json.js';
import {count} from '../../text/sentence.js';
import {placeFlags, type CommandPlace} from '../../text/suggest.js';
import type {CommandContext} from '../command/command-context.js';
import type {DiffedTarget} from './documents.js';
import type {Output} from './output.js';

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? 'unknown' : JSON.stringify(value);
}

function redirectText({to, status, forwardQuery, forwardWildcard}: Redirect): string {
  const extras = [String(status), ...(forwardQuery ? ['query'] : []), ...(forwardWildcard ? ['wildcard'] : [])];
  return `${to} (${extras.join(', ')})`;
}

/** `~ logLevel: info → debug`, `+ redirect /old → /new (301)` */
function differenceText({kind, name, before, after}: TargetDifference): string {
  if (kind === 'setting') return `~ ${name}: ${shown(before)} → ${shown(after)}`;
  if (kind === 'variable') return `! ${name} is not set`;
  if (kind === 'access' && after !== true) return '- access headers';
  if (kind === 'access') return `+ access header${before === true ? ', which replaces the current ones' : ''}`;
  if (kind === 'primary') return '+ primary target';
  const [old, wanted] = [before as Redirect | undefined, after as Redirect | undefined];
  if (wanted === undefined) return `- redirect ${name}`;
  const sign = old === undefined ? '+' : '~';
  return `${sign} redirect ${name} → ${redirectText(wanted)}${old === undefined ? '' : `, was ${redirectText(old)}`}`;
}

const mostLines = 100;

/** Redirects are public, and can't be reviewed without their queries. */
function showQueries(redirects: readonly unknown[], output: Output): void {
  for (const redirect of redirects) output.showQuery(String(asRecord(redirect)['to']));
}

export function listDifferences({differences}: TargetDiff, output: Output): void {
  const redirects = differences.flatMap(({before, after}) => [before, after]);
  showQueries(redirects, output);
  for (const difference of differences.slice(0, mostLines)) output.outcome(differenceText(difference));
  const more = differences.length - mostLines;
  if (more > 0) output.outcome(`and ${String(more)} more, which --json has`);
}

export function renderTargetDiff(result: TargetDiff & Partial<AppliedTarget>, output: Output): TargetDiff {
  const {identical, differences, projectSlug, targetSlug, backend, dryRun = false} = result;
  listDifferences(result, output);
  if (identical) output.outcome(`${targetSlug} matches its configuration.`);
  else output.outcome(`Found ${count(differences.length, 'difference')} between ${targetSlug} and the configuration.`);
  const apply = {run: ['target:apply', targetSlug, ...placeFlags({projectSlug, backend})]};
  if (!dryRun && differences.some(({kind}) => kind !== 'variable')) output.hint(['To change it, run: ', apply]);
  adviseVariables(result, missingVariables(result), output);
  return result;
}

function missingVariables({differences}: TargetDiff): readonly string[] {
  return differences.filter(({kind}) => kind === 'variable').map(({name}) => name);
}

export function adviseVariables(place: CommandPlace, missing: readonly string[], output: Output): void {
  const pairs = missing.map((name) => `${name}=@FILE`);
  const set = {run: ['env:set', ...pairs, ...placeFlags(place)]};
  if (missing.length > 0) output.hint(['To set what is missing, run: ', set]);
}

/** Shows what `--init` has written, or has not because the file is code. */
export function renderWrittenTarget(
  result: DiffedTarget,
  {output, configFile}: Pick<CommandContext, 'output' | 'configFile'>,
): DiffedTarget {
  const {file, targetSlug, configuration} = result;
  showQueries([configuration?.redirects].flat(), output);
  if (file !== undefined) output.outcome(`Wrote the current state of ${targetSlug} to ${file}.`);
  else {
    const text = (value: unknown) => inspect(value, {depth: null, compact: false, maxArrayLength: null});
    const hasTargets = configFile !== undefined && configFile.targets.size > 0;
    output.outcome(`Add this to ${hasTargets ? '"targets" in ' : ''}the configuration:`);
    output.result(
      hasTargets ? `'${targetSlug}': ${text(configuration)},` : `targets: ${text({[targetSlug]: configuration})},`,
    );
  }
  return result;
}

export function renderApplied(result: AppliedTarget, output: Output): AppliedTarget {
  const {applied, dryRun, targetSlug, identical} = result;
  if (dryRun) return {...result, ...renderTargetDiff(result, output)};
  if (applied === 0)
    output.outcome(
      identical
        ? `Nothing to change: ${targetSlug} matches its configuration.`
        : `Nothing to apply. ${targetSlug} still lacks ${missingVariables(result).join(', ')}.`,
    );
  else output.outcome(`Changed ${targetSlug}: ${count(applied, 'difference')} resolved.`);
  adviseVariables(result, missingVariables(result), output);
  return result;
}

/** Runs what may make an access header, whose value is shown or written at once: what follows may fail or never end. */
export async function withAccess<Result>(
  {targetSlug, file}: {readonly targetSlug: string; readonly file?: string | undefined},
  {output, session, configDirectory}: Pick<CommandContext, 'output' | 'session' | 'configDirectory'>,
  run: (onAccess: (value: string) => void) => Promise<Result>,
): Promise<Result> {
  if (file !== undefined) await verifyWritable(file, 'Pass a different file with --output.');
  const show = () => {
    session.showAccess?.();
    session.showAccess = undefined;
  };
  let writing: Promise<void> | undefined;
  const onAccess = (value: string) => {
    session.access = value;
    session.showAccess = () => {
      output.outcome(`${targetSlug} requires this header from visitors. Its value can't be read again:`);
      output.result(`${accessHeader}: ${value}`);
    };
    if (file !== undefined) {
      const tell = () => output.outcome(`Wrote the value of the access header of ${targetSlug} to ${file}.`);
      writing = replaceTextFile(file, `${value}\n`, 0o600).then(() => void (session.showAccess = tell));
      // It fails the command, but later.
      writing.catch(() => undefined);
    } else if (!output.redraws) show();
  };
  try {
    try {
      return await run(onAccess);
    } finally {
      await writing;
    }
  } finally {
    show();
    const header = inspect({[accessHeader]: `@${file === undefined ? 'FILE' : relative(configDirectory, file)}`});
    if (session.access !== undefined) output.hint([`To send it with checks, set check.headers: ${header}.`]);
  }
}
