import {
  describeSource,
  isRemote,
  openSources,
  readSource,
  type BundleSource,
  type ComparedBundle,
  type OpenedSource,
  type OpenedSources,
  type ReadSource,
  type ReadSourceOptions,
} from '../operations/bundle-source.js';
import type {BundleFormat} from '../bundle/types.js';
import {count} from '../text/sentence.js';
import {compareContents, type ContentsDiff} from '../bundle/contents/compare-contents.js';
import {quickLook} from '../operations/call-backend.js';
import {variablesOf} from '../operations/targets/variables.js';
import type {RunHost} from '../operations/host.js';
import type {PipelineHost} from './host.js';
import {Pipeline} from './run.js';

/** Options of `diffBundles`. The options for a bundle's content are those of the build directories to compare. */
export interface DiffBundlesOptions extends ReadSourceOptions {
  /** The bundle before. */
  readonly from: BundleSource;
  /** The bundle after. */
  readonly to: BundleSource;
  /** Names of the environment variables that a target must have, of which one runs a bundle. @default none */
  readonly variables?: readonly string[] | undefined;
}

/** What `diffBundles` resolves to. */
export interface DiffBundlesResult extends ContentsDiff {
  readonly before: ComparedBundle;
  readonly after: ComparedBundle;
  /** Those of `variables` that the target lacks. Undefined without a target, and if it does not tell them. */
  readonly missingVariables?: readonly string[] | undefined;
  readonly warnings: readonly string[];
}

export async function diffBundles(options: DiffBundlesOptions, host: PipelineHost): Promise<DiffBundlesResult> {
  const {from, to, variables = []} = options;
  options.signal?.throwIfAborted();
  const start = Pipeline.start(host);
  const opened: Pipeline<OpenedSources> =
    isRemote(from) || isRemote(to)
      ? start.step('resolve', 'Prepare', (_, run) => openSources({from, to}, options, run))
      : start.after({from, to});
  const read = async (source: OpenedSource, format: BundleFormat, run: RunHost): Promise<ReadSource> => {
    const {bundle, contents} = await readSource(source, options, format, run);
    run.outlet.title(`Read ${bundle.name}: ${count(contents.files.length, 'file')}`);
    return {bundle, contents};
  };
  const title = (name: 'from' | 'to') => `Read ${describeSource(options[name])}`;
  // The format of a build directory follows from the other bundle.
  const [first, second] = from.kind === 'folder' ? (['to', 'from'] as const) : (['from', 'to'] as const);
  const pipeline = opened
    .step(first, title(first), async (sources, run) => ({sources, one: await read(sources[first], 'v2', run)}))
    .step(second, title(second), async ({sources, one}, run) => {
      const other = await read(sources[second], one.contents.format, run);
      return {one, other, missingVariables: await lackedBy(sources, variables)};
    });
  const {one, other, missingVariables} = await pipeline.run();
  const [before, after] = first === 'from' ? [one, other] : [other, one];
  return {
    before: before.bundle,
    after: after.bundle,
    ...compareContents(before.contents, after.contents),
    missingVariables,
    warnings: pipeline.warnings,
  };
}

/** The variables that the target lacks whose bundle is compared. It is only a note, so nothing comes of a failure. */
async function lackedBy(
  {from, to}: OpenedSources,
  variables: readonly string[],
): Promise<readonly string[] | undefined> {
  const running = [from, to].find((source) => source.kind === 'running');
  if (running === undefined || variables.length === 0 || running.open.backend.listVariables === undefined)
    return undefined;
  const {open, targetSlug} = running;
  const own = await quickLook(open, (again) => variablesOf(again, targetSlug));
  return own && variables.filter((wanted) => !own.some(({name}) => name === wanted));
}
