import {randomUUID} from 'node:crypto';
import {appendFile, open} from 'node:fs/promises';
import {resolve} from 'node:path';
import {constants} from 'node:fs';
import {isRecord} from '../../errors/json.js';
import {reasonOf, systemCode} from '../../errors/system-failure.js';
import {isRuntimeCliError, createError} from '../../errors/index.js';
import type {CommandContext} from '../command/command-context.js';
import type {JsonDocument} from './output.js';
import {htmlInMarkdown} from './terminal.js';

type StepOutputContext = Pick<CommandContext, 'cwd' | 'env' | 'flags' | 'output'>;

export interface StepPlace {
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
}

/** What later steps of a pipeline need, by name of the output. */
const outputNames = ['bundle-id', 'deployment-id', 'backend', 'url', 'sha256'] as const;
type Outputs = Readonly<Partial<Record<(typeof outputNames)[number], string | undefined>>>;
type Rows = Readonly<Record<string, string | undefined>>;

/**
 * Runs a command and reports its outcome, even a failure, to the CI system: in `$GITHUB_OUTPUT`, `$GITHUB_STEP_SUMMARY`
 * and the file of `--output-env`. That file is emptied first, so it only contains this run's outputs. A file with other
 * content is left alone.
 * @param command its ID, for the heading of the summary
 * @param act `note`: told where it deploys to, for a failure
 * @throws RuntimeCliError `ERR_OUTPUT`, before doing anything, when that file cannot be written; otherwise what `act`
 * throws.
 */
export async function withStepOutputs<Document extends JsonDocument>(
  context: StepOutputContext,
  command: string,
  act: (note: (place: StepPlace) => void) => Promise<Document>,
): Promise<Document> {
  const {'output-env': outputEnv} = context.flags;
  const envFile = typeof outputEnv === 'string' ? resolve(context.cwd, outputEnv) : undefined;
  if (envFile !== undefined) await clearEnvFile(envFile, outputNames.map(dotenvName));
  const report = async (rows: Rows, outputs: Outputs) => {
    const {env} = context;
    const entries = plainEntries(context, outputs);
    await attempt(context, env['GITHUB_OUTPUT'], githubOutputs(entries));
    await attempt(context, env['GITHUB_STEP_SUMMARY'], summary(context, `mycli ${command}`, {...rows, ...outputs}));
    if (envFile !== undefined) await writeDotenv(context, envFile, entries);
  };
  let place: StepPlace = {};
  try {
    const document = await act((known) => {
      place = known;
    });
    // A dry run has no outcome.
    if (document['dryRun'] !== true) await report(rowsOfDocument(document), outputsOf(document));
    return document;
  } catch (error) {
    // What was refused as an input is no outcome.
    const isOutcome = isRuntimeCliError(error) && error.code !== 'ERR_OPTION_INVALID';
    await report(rowsOfError(error, place), isOutcome ? outputsOf(error.details ?? {}) : {});
    throw error;
  }
}

// What was done is done: that the CI system could not be told must not look like a failure of it.
async function attempt({output}: StepOutputContext, path: string | undefined, text: string): Promise<void> {
  if (!path || text === '') return;
  await appendFile(path, text).catch((error: unknown) => {
    output.warn(cannotWrite(error));
  });
}

function cannotWrite(error: unknown): string {
  return `The outputs of this step cannot be written: ${reasonOf(error)}.`;
}

type Entry = readonly [name: string, value: string];

async function writeDotenv({output}: StepOutputContext, path: string, entries: readonly Entry[]): Promise<void> {
  const lines = entries.flatMap(([name, value]) => {
    if (fitsDotenv(value)) return [`${dotenvName(name)}=${value}`];
    const reason = 'its value has characters that dotenv parsers read differently';
    output.warn(`${dotenvName(name)} was left out of ${path}: ${reason}.`);
    return [];
  });
  await writeEnvFile(path, lines).catch((error: unknown) => {
    output.warn(cannotWrite(error));
  });
}

/** The outputs that are plain single lines. Others are left out, since a modified ID would mean something else. */
function plainEntries({output}: StepOutputContext, outputs: Outputs): readonly Entry[] {
  return Object.entries(outputs).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (value !== '' && value === output.clean(value) && !/[\t\n]/.test(value)) return [[name, value] as const];
    output.warn(`Left out the output ${name}: it is not a single line of plain text.`);
    return [];
  });
}

/** The outputs in the document of a push or a deployment, or in the details of an error. */
function outputsOf({bundleId, deploymentId, deployment, backend, url, archive}: JsonDocument): Outputs {
  return {
    'bundle-id': textOf(bundleId),
    'deployment-id': textOf(deploymentId ?? (isRecord(deployment) ? deployment['deploymentId'] : undefined)),
    backend: textOf(backend),
    url: textOf(url),
    sha256: isRecord(archive) ? textOf(archive['sha256']) : undefined,
  };
}

function rowsOfDocument({status, unchanged, projectSlug, targetSlug, check}: JsonDocument): Rows {
  const result = textOf(status) ?? (unchanged === true ? 'unchanged' : 'uploaded');
  return {result, project: textOf(projectSlug), target: textOf(targetSlug), check: describeCheck(check)};
}

function rowsOfError(error: unknown, {projectSlug, targetSlug}: StepPlace): Rows {
  const {code, details: {check, rollback} = {}} = isRuntimeCliError(error) ? error : {};
  return {
    result: `failed: ${reasonOf(error)}${code === undefined ? '' : ` (${code})`}`,
    project: projectSlug,
    target: targetSlug,
    check: describeCheck(check),
    rollback: describeRollback(rollback),
  };
}

/** `https://shop.example/: 200; https://shop.example/health: failed` */
function describeCheck(check: unknown): string | undefined {
  const checks: readonly unknown[] = isRecord(check) && Array.isArray(check['checks']) ? check['checks'] : [];
  const described = checks.filter(isRecord).map(({url, passed, status}) => {
    return `${String(url)}: ${passed === true ? (textOf(status) ?? 'passed') : 'failed'}`;
  });
  return described.length === 0 ? undefined : described.join('; ');
}

function describeRollback(rollback: unknown): string | undefined {
  if (!isRecord(rollback)) return undefined;
  const {rolledBack, bundleId, reason} = rollback;
  if (rolledBack === true) return `to bundle ${textOf(bundleId) ?? ''}`;
  return `not rolled back${typeof reason === 'string' ? `: ${reason}` : ''}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/**
 * Outputs of a step in the format of `$GITHUB_OUTPUT`. Each value has its own delimiter, so no text can end it and
 * start another output.
 */
function githubOutputs(entries: readonly Entry[]): string {
  return entries
    .map(([name, value]) => {
      const delimiter = `mycli-${randomUUID()}`;
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
    })
    .join('');
}

/** The name of an output in a dotenv file: `MYCLI_BUNDLE_ID`. */
function dotenvName(name: string): string {
  return `MYCLI_${name.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * A table for `$GITHUB_STEP_SUMMARY`, with a row for each value. In HTML, no Markdown is interpreted, and no text can
 * escape its cell.
 */
function summary({output}: StepOutputContext, title: string, rows: Rows): string {
  const cells = Object.entries(rows).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [`<tr><th align="left">${htmlInMarkdown(name)}</th><td>${htmlInMarkdown(output.clean(value))}</td></tr>`];
  });
  return `### ${title}\n\n<table>\n${cells.join('\n')}\n</table>\n\n`;
}

/** Far more than any file of ours, in bytes. */
const largest = 64 * 1024;

/**
 * Whether a value can be written to a dotenv file. Parsers disagree about quotes and escapes, and shells execute what
 * they source, so only values that mean the same everywhere are allowed.
 */
export function fitsDotenv(value: string): boolean {
  return /^[\w.:@%+=,/[\]-]+$/.test(value);
}

/**
 * Creates or empties the dotenv file of `--output-env`. With `isSecret`, only its owner can read it afterwards, and a
 * symlink in its place is not followed.
 * @param path absolute.
 * @param names the variables that mycli writes there
 * @throws RuntimeCliError `ERR_OUTPUT` when it cannot be written or holds anything else: a `.env` must not be emptied.
 */
export async function clearEnvFile(path: string, names: readonly string[], {isSecret = false} = {}): Promise<void> {
  const {O_CREAT, O_NOFOLLOW, O_RDWR} = constants;
  try {
    const handle = await open(path, O_RDWR | O_CREAT | (isSecret ? O_NOFOLLOW : 0), isSecret ? 0o600 : 0o666);
    try {
      const stats = await handle.stat();
      // A pipe or a terminal has no content to lose.
      if (!stats.isFile()) return;
      if (stats.size > largest || isForeign(await handle.readFile('utf8'), names)) throw foreignFile(path);
      if (isSecret) await handle.chmod(0o600);
      await handle.truncate(0);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isRuntimeCliError(error)) throw error;
    const isLink = systemCode(error) === 'ELOOP' && isSecret;
    const reason = isLink ? 'it is a symlink, and credentials are not written through one' : reasonOf(error);
    throw createError('ERR_OUTPUT', `The --output-env file cannot be written: ${reason}.`, {
      suggestions: ['Pass --output-env a path in an existing folder that you can write to.'],
      cause: error,
    });
  }
}

/** Adds lines to a dotenv file. Does not wait for the reader of a pipe. @throws Error of the system. */
export function writeEnvFile(path: string, lines: readonly string[]): Promise<void> {
  const {O_APPEND, O_NONBLOCK, O_WRONLY} = constants;
  return appendFile(path, lines.map((line) => `${line}\n`).join(''), {flag: O_APPEND | O_NONBLOCK | O_WRONLY});
}

function isForeign(content: string, names: readonly string[]): boolean {
  const lines = content.split('\n').filter((line) => line !== '');
  return !lines.every((line) => names.some((name) => line.startsWith(`${name}=`)));
}

function foreignFile(path: string): Error {
  const message = `${path} contains something other than mycli outputs, so --output-env does not overwrite it.`;
  return createError('ERR_OUTPUT', message, {
    suggestions: ['Pass a different file to --output-env, or remove this one.'],
  });
}
