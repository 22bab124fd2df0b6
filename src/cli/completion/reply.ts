import type {Interfaces} from '@oclif/core';
import {describeAge} from '../render/age.js';
import {sanitize} from '../output/sanitize.js';
import {knownBundles, type KnownBundle} from './known-bundles.js';
import {wantedAt, type Candidate, type KnownThing, type Wanted} from './wanted.js';

/** What completion needs of the process. */
type Process = Pick<NodeJS.Process, 'argv' | 'cwd' | 'env' | 'execPath' | 'stdout'>;

/**
 * Tells a shell what can be inserted at the cursor: a line with the kind of paths (`files`, `folders` or, for none,
 * `words`), then a line for each candidate, with a tab before its description. Errors are never shown.
 */
export async function replyToShell(words: readonly string[], config: Interfaces.Config, host: Process): Promise<void> {
  const wanted = wantedAt(words, config);
  const current = words.at(-1) ?? '';
  const typed = current.startsWith('--') ? current.slice(current.indexOf('=') + 1) : current;
  const all = [...wanted.candidates, ...(await knownCandidates(wanted, words, config, host))];
  const lines = all
    .filter(({value}) => value.startsWith(typed))
    .map(({value, summary = ''}) => `${value}\t${oneLine(summary)}`);
  host.stdout.write(`${[wanted.paths ?? 'words', ...lines].join('\n')}\n`);
}

/** Removes anything that a terminal would execute, or a shell would take for two candidates. */
function oneLine(text: string): string {
  return sanitize(text).replaceAll('<%= config.bin %>', 'mycli').replaceAll(/\s+/g, ' ').slice(0, 100);
}

async function knownCandidates(
  {known}: Wanted,
  words: readonly string[],
  config: Interfaces.Config,
  host: Process,
): Promise<readonly Candidate[]> {
  if (known === undefined) return [];
  if (known === 'backends') {
    return [
      {value: 'auto', summary: 'Api if its connection is configured, otherwise legacy.'},
      {value: 'api', summary: 'The Api backend.'},
      {value: 'legacy', summary: 'The legacy backend.'},
    ];
  }
  const {projectSlug, bundles = [], targets = []} = (await knownBundles(words, config, host)) ?? {};
  const variable = host.env[known === 'projects' ? 'MYCLI_PROJECT' : 'MYCLI_TARGET'] ?? [];
  return candidatesOf(known, {projectSlug, bundles, targets}, [variable].flat());
}

function candidatesOf(
  known: KnownThing,
  {
    projectSlug,
    bundles,
    targets,
  }: {
    readonly projectSlug: string | undefined;
    readonly bundles: readonly KnownBundle[];
    readonly targets: readonly string[];
  },
  variable: readonly string[],
): readonly Candidate[] {
  const now = new Date();
  // A shell must not execute what a service says.
  const isPlain = (name: string) => /^[\w.-]+$/.test(name);
  if (known === 'bundles') {
    return bundles
      .filter(({bundleId}) => isPlain(String(bundleId)))
      .map(({bundleId, message = '', createdAt}) => ({
        value: String(bundleId),
        summary: [createdAt === undefined ? [] : describeAge(createdAt, now), message].flat().join(', '),
      }));
  }
  const names =
    known === 'projects' ? [projectSlug ?? []].flat() : [...targets, ...bundles.flatMap(({inUseBy = []}) => inUseBy)];
  return [...new Set([...variable, ...names])].filter(isPlain).map((value) => ({value}));
}
