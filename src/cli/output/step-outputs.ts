import {appendFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import {isRuntimeCliError, outputError, reasonOf, systemCode} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {notOurs} from '../../files/own-files.js';
import {isDotenv} from '../../text/dotenv.js';
import {withLock} from '../../files/lock.js';
import {readTextFile} from '../../files/read-file.js';
import {replaceTextFile, verifyWritable} from '../../files/write-files.js';
import type {CommandContext} from '../command/command-context.js';
import type {Ledger} from '../../pipelines/ledger.js';
import type {Output} from './output.js';
import {htmlInMarkdown} from './terminal.js';

type Outputs = Readonly<Record<string, string | undefined>>;

/**
 * Runs a command and reports its outcome, even a failure, to the CI system: in `$GITHUB_OUTPUT`, `$GITHUB_STEP_SUMMARY`
 * and the file of `--output-env`, which has no outputs of an earlier run from then on.
 * @param command Its ID, for the heading of the summary.
 */
export async function withStepOutputs<Document>(
  context: CommandContext,
  command: string,
  act: () => Promise<Document>,
): Promise<Document> {
  const {cwd, env, output, session} = context;
  const {'output-env': outputEnv, 'dry-run': dryRun} = context.flags;
  const envFile = typeof outputEnv === 'string' ? resolve(cwd, outputEnv) : undefined;
  const unset = Object.fromEntries(Object.keys(outputsOf({})).map((name) => [dotenvName(name), undefined]));
  if (envFile !== undefined) {
    await verifyWritable(envFile, 'Pass a different file with --output-env.');
    await linesOf(envFile);
  }
  // A dry run has no outcome.
  if (dryRun === true) return act();
  if (envFile !== undefined) await writeEnvFile(envFile, unset, output);
  const report = async (result: string) => {
    const facts = knownOf(session.ledgers);
    const outputs = outputsOf(facts);
    const entries = plainEntries(output, outputs);
    const rows = {
      result,
      project: context.settings?.projectSlug?.value,
      target: context.settings?.targetSlug?.value,
      check: describeCheck(facts),
      rollback: describeRollback(facts),
      ...outputs,
    };
    const variables = Object.fromEntries(entries.map(([name, value]) => [dotenvName(name), value]));
    const written = await Promise.allSettled([
      append(env['GITHUB_OUTPUT'], entries.map(([name, value]) => `${name}=${value}\n`).join('')),
      append(env['GITHUB_STEP_SUMMARY'], summary(output, `mycli ${command}`, rows)),
      envFile === undefined ? undefined : writeEnvFile(envFile, {...unset, ...variables}, output),
    ]);
    // The command has done its work: this must not look like a failure of it.
    for (const outcome of written) {
      if (outcome.status === 'fulfilled') continue;
      output.warn(asSentence(`The outputs of this step cannot be written: ${reasonOf(outcome.reason)}`));
    }
  };
  try {
    const document = await act();
    const {status, target, uploaded} = knownOf(session.ledgers);
    await report(status ?? target?.state ?? (uploaded === undefined ? 'unchanged' : 'uploaded'));
    return document;
  } catch (error) {
    const code = isRuntimeCliError(error) ? ` (${error.code})` : '';
    await report(`failed: ${reasonOf(error)}${code}`);
    throw error;
  }
}

async function append(path: string | undefined, text: string): Promise<void> {
  if (path) await appendFile(path, text);
}

/** The outputs that are plain single lines. Others are left out, since a modified ID would mean something else. */
function plainEntries(output: Output, outputs: Outputs): readonly (readonly [name: string, value: string])[] {
  return Object.entries(outputs).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (value !== '' && value === output.clean(value) && !/[\t\n]/.test(value)) return [[name, value] as const];
    output.warn(`Left out the output ${name}: it is not a single line of plain text.`);
    return [];
  });
}

/** What the runs of a command know together: one may create a target, and one push to it. */
function knownOf(ledgers: readonly Ledger[]): Partial<Ledger> {
  return Object.assign({}, ...ledgers) as Partial<Ledger>;
}

/** The outputs, as far as something was done. */
function outputsOf(known: Partial<Ledger>): Outputs {
  const {open, target, bundle, bundleId, uploaded, deployment, status, release, url} = known;
  const isMade = target?.created !== undefined;
  const isSent = bundle !== undefined || deployment !== undefined;
  return {
    // Some services make the slugs of new targets themselves.
    'target-slug': deployment !== undefined ? release?.targetSlug : isMade ? target.targetSlug : undefined,
    'bundle-id': isSent ? textOf(bundleId) : undefined,
    'deployment-id': textOf(deployment?.deploymentId),
    status: deployment === undefined ? undefined : status,
    backend: isMade || isSent ? open?.project.backend : undefined,
    url: url ?? uploaded?.url ?? target?.url,
    sha256: bundle?.sha256,
  };
}

/** `https://shop.example/: 200; https://shop.example/health: failed` */
function describeCheck({check}: Partial<Ledger>): string | undefined {
  return check?.checks
    .map(({url, passed, status}) => `${url}: ${passed ? (textOf(status) ?? 'passed') : 'failed'}`)
    .join('; ');
}

function describeRollback({rollback}: Partial<Ledger>): string | undefined {
  if (rollback === undefined) return undefined;
  const {rolledBack, bundleId, reason, error} = rollback;
  if (rolledBack) return `to bundle ${String(bundleId)}`;
  const why = reason ?? (error === undefined ? undefined : reasonOf(error));
  return `not rolled back${why === undefined ? '' : `: ${why}`}`;
}

function textOf(value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** The name of an output in a dotenv file: `MYCLI_BUNDLE_ID`. */
function dotenvName(name: string): string {
  return `MYCLI_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** A table for `$GITHUB_STEP_SUMMARY`. In HTML, no Markdown is interpreted, and no text can escape its cell. */
function summary(output: Output, title: string, rows: Readonly<Record<string, string | undefined>>): string {
  const cells = Object.entries(rows).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [`<tr><th align="left">${htmlInMarkdown(name)}</th><td>${htmlInMarkdown(output.clean(value))}</td></tr>`];
  });
  return `### ${title}\n\n<table>\n${cells.join('\n')}\n</table>\n\n`;
}

/** What a value in a dotenv file may be, since parsers disagree about quotes and shells execute what they source. */
const plainValue = /^[\w.:@%+=,/[\]-]+$/;

/**
 * Replaces variables in a dotenv file, which keeps its other lines.
 * @param values undefined: the variable is removed.
 * @param mode Permissions of the file. @default those that it has
 */
export async function writeEnvFile(
  path: string,
  values: Readonly<Record<string, string | undefined>>,
  output: Output,
  mode?: number,
): Promise<void> {
  const lines = Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (plainValue.test(value)) return [`${name}=${value}`];
    output.warn(`${name} was left out of ${path}: its value has characters that dotenv parsers read differently.`);
    return [];
  });
  await withLock(path, async () => {
    const others = (await linesOf(path)).filter((line) => !Object.hasOwn(values, line.split('=', 1)[0] ?? ''));
    await replaceTextFile(path, [...others, ...lines].map((line) => `${line}\n`).join(''), mode);
  });
}

/** The lines of a dotenv file, if there is one. */
async function linesOf(path: string): Promise<readonly string[]> {
  const before = await readTextFile(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return '';
    throw outputError(path, error);
  });
  if (!isDotenv(before)) throw notOurs(path, '--output-env');
  const isEnded = before === '' || before.endsWith('\n');
  return before.split('\n').slice(0, isEnded ? -1 : undefined);
}
