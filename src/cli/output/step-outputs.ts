import {randomUUID} from 'node:crypto';
import {appendFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import {isRecord} from '../../errors/json.js';
import {reasonOf} from '../../errors/system-failure.js';
import {isRuntimeCliError} from '../../errors/index.js';
import type {CommandContext} from '../command/command-context.js';
import {fitsDotenv, openEnvFile, type EnvFile} from './env-file.js';
import type {JsonDocument} from './output.js';
import {htmlInMarkdown} from './sanitize.js';

/** What writing step outputs needs. */
type StepOutputContext = Pick<CommandContext, 'cwd' | 'env'> & {
  readonly output: Pick<CommandContext['output'], 'clean' | 'warn'>;
};

/** Options of `withStepOutputs`. */
interface StepOutputOptions {
  /** ID of the command, for the heading of the summary. */
  readonly command: string;
  /** `--output-env`: a dotenv file for other CI systems, relative to the working directory. */
  readonly outputEnv: string | undefined;
}

/** Where a command deploys to, once that is known. */
export interface StepPlace {
  readonly projectSlug?: string | undefined;
  readonly targetSlug?: string | undefined;
}

/**
 * Runs a command and reports its outcome, even a failure, to the CI system: in `$GITHUB_OUTPUT`, `$GITHUB_STEP_SUMMARY`
 * and the file of `--output-env`. That file is emptied first, so it only contains this run's outputs. A file with other
 * content is left alone.
 * @param act `note`: told where it deploys to, for a failure
 * @throws RuntimeCliError `ERR_OUTPUT`, before doing anything, when that file cannot be written; otherwise what `act`
 * throws.
 */
export async function withStepOutputs<Document extends JsonDocument>(
  context: StepOutputContext,
  {command, outputEnv}: StepOutputOptions,
  act: (note: (place: StepPlace) => void) => Promise<Document>,
): Promise<Document> {
  const envFile =
    outputEnv === undefined ? undefined : await openEnvFile(resolve(context.cwd, outputEnv), factNames.map(dotenvName));
  let place: StepPlace = {};
  try {
    const document = await act((known) => {
      place = known;
    });
    // A dry run has no outcome.
    if (document['dryRun'] !== true) {
      const facts = factsOfDocument(document);
      await writeAll(
        context,
        envFile,
        facts,
        summaryTable(`mycli ${command}`, rowsOfDocument(context, document, facts)),
      );
    }
    return document;
  } catch (error) {
    const facts = factsOfError(error);
    await writeAll(
      context,
      envFile,
      facts,
      summaryTable(`mycli ${command}`, rowsOfError(context, error, place, facts)),
    );
    throw error;
  } finally {
    await envFile?.close();
  }
}

async function writeAll(
  context: StepOutputContext,
  envFile: EnvFile | undefined,
  facts: StepFacts,
  summary: string,
): Promise<void> {
  const {env, output} = context;
  const entries = plainEntries(context, facts);
  await appendTo(context, env['GITHUB_OUTPUT'], githubOutputs(entries));
  await appendTo(context, env['GITHUB_STEP_SUMMARY'], summary);
  if (envFile === undefined) return;
  const fitting = entries.filter(([, value]) => fitsDotenv(value));
  for (const [name] of entries.filter(([, value]) => !fitsDotenv(value))) {
    output.warn(
      `${dotenvName(name)} was left out of ${envFile.path}: its value has characters that dotenv parsers read differently.`,
    );
  }
  await attempt(context, () => envFile.write(dotenvLines(fitting)));
}

async function appendTo(context: StepOutputContext, path: string | undefined, text: string): Promise<void> {
  if (path === undefined || path === '' || text === '') return;
  await attempt(context, () => appendFile(path, text));
}

// What was done is done: that the CI system could not be told must not look like a failure of it.
async function attempt({output}: StepOutputContext, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    output.warn(`The outputs of this step cannot be written: ${reasonOf(error)}.`);
  }
}

/** The facts that are plain single lines. Others are left out, since a modified ID would mean something else. */
function plainEntries({output}: StepOutputContext, facts: StepFacts): readonly (readonly [string, string])[] {
  const entries = Object.entries(facts).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return entries.filter(([name, value]) => {
    const plain = value !== '' && value === output.clean(value) && !/[\t\n]/.test(value);
    if (!plain) output.warn(`Left out the output ${name}: it is not a single line of plain text.`);
    return plain;
  });
}

function rowsOfDocument(context: StepOutputContext, document: JsonDocument, facts: StepFacts) {
  const {status, unchanged, projectSlug, targetSlug, check} = document;
  const result = textOf(status) ?? (unchanged === true ? 'unchanged' : 'uploaded');
  const place = {project: textOf(projectSlug), target: textOf(targetSlug)};
  return rows(context, {result, ...place, check: describeCheck(check), ...facts});
}

function rowsOfError(context: StepOutputContext, error: unknown, place: StepPlace, facts: StepFacts) {
  const code = isRuntimeCliError(error) ? ` (${error.code})` : '';
  const {check, rollback} = (isRuntimeCliError(error) ? error.details : undefined) ?? {};
  return rows(context, {
    result: `failed: ${reasonOf(error)}${code}`,
    ...{project: place.projectSlug, target: place.targetSlug},
    ...{check: describeCheck(check), rollback: describeRollback(rollback)},
    ...facts,
  });
}

/** `https://shop.example/: 200; https://shop.example/health: failed` */
function describeCheck(check: unknown): string | undefined {
  const checks = isRecord(check) && Array.isArray(check['checks']) ? check['checks'] : [];
  const described = checks.flatMap((made: unknown) => {
    if (!isRecord(made)) return [];
    return [
      `${textOf(made['url']) ?? ''}: ${made['passed'] === true ? (textOf(made['status']) ?? 'passed') : 'failed'}`,
    ];
  });
  return described.length === 0 ? undefined : described.join('; ');
}

function describeRollback(rollback: unknown): string | undefined {
  if (!isRecord(rollback)) return undefined;
  const bundle = textOf(rollback['bundleId']);
  if (rollback['rolledBack'] === true) return `to bundle ${bundle ?? ''}`;
  const reason = textOf(rollback['reason']);
  return `not rolled back${reason === undefined ? '' : `: ${reason}`}`;
}

function rows({output}: StepOutputContext, values: Readonly<Record<string, string | undefined>>) {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, output.clean(value)] as const],
  );
}

/** What later steps of a pipeline need, by name of the output. */
interface StepFacts {
  readonly 'bundle-id'?: string | undefined;
  readonly 'deployment-id'?: string | undefined;
  readonly backend?: string | undefined;
  readonly url?: string | undefined;
  readonly sha256?: string | undefined;
}

/** The names of all outputs. */
const factNames = [
  'bundle-id',
  'deployment-id',
  'backend',
  'url',
  'sha256',
] as const satisfies readonly (keyof StepFacts)[];

/** The facts in the document of a push or a deployment. */
function factsOfDocument(document: JsonDocument): StepFacts {
  const {bundleId, deploymentId, backend, url, archive} = document;
  return {
    'bundle-id': textOf(bundleId),
    'deployment-id': textOf(deploymentId),
    backend: textOf(backend),
    url: textOf(url),
    sha256: isRecord(archive) ? textOf(archive['sha256']) : undefined,
  };
}

/** The facts that are known despite a failure, from the details of the error. */
function factsOfError(error: unknown): StepFacts {
  // What was refused as an input is no outcome.
  if (!isRuntimeCliError(error) || error.code === 'ERR_OPTION_INVALID') return {};
  const {details = {}} = error;
  const {deployment} = details;
  const fromDeployment = isRecord(deployment) ? deployment['deploymentId'] : undefined;
  return factsOfDocument({...details, deploymentId: details['deploymentId'] ?? fromDeployment});
}

/** An ID or a name as text; undefined for anything else. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/**
 * Outputs of a step in the format of `$GITHUB_OUTPUT`. Each value has its own delimiter, so no text can end it and
 * start another output.
 */
function githubOutputs(entries: readonly (readonly [name: string, value: string])[]): string {
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

/** Lines of a dotenv file, for allowed values. */
function dotenvLines(entries: readonly (readonly [name: string, value: string])[]): string {
  return entries.map(([name, value]) => `${dotenvName(name)}=${value}\n`).join('');
}

/**
 * A table for `$GITHUB_STEP_SUMMARY`, with a row for each pair. In HTML, no Markdown is interpreted, and no text can
 * escape its cell.
 */
function summaryTable(title: string, rows: readonly (readonly [name: string, value: string])[]): string {
  const cells = rows.map(
    ([name, value]) => `<tr><th align="left">${htmlInMarkdown(name)}</th><td>${htmlInMarkdown(value)}</td></tr>`,
  );
  return `### ${title}\n\n<table>\n${cells.join('\n')}\n</table>\n\n`;
}
