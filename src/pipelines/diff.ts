import {
  chooseSourceBackend,
  describeSource,
  isRemote,
  readSource,
  type BundleSource,
  type ComparedBundle,
  type ReadSource,
  type ReadSourceOptions,
} from '../operations/bundle-source.js';
import type {BundleFormat} from '../bundle/types.js';
import {count} from '../text/sentence.js';
import {compareContents, type ContentsDiff} from '../bundle/contents/compare-contents.js';
import {resolveStep, type ResolvedRun} from './steps.js';
import type {PipelineHost} from './host.js';
import {made, runPipeline, type Step} from './run.js';

/** Options of `diffBundles`. The options for a bundle's content are those of the build directories to compare. */
export interface DiffBundlesOptions extends ReadSourceOptions {
  /** The bundle before. */
  readonly from: BundleSource;
  /** The bundle after. */
  readonly to: BundleSource;
}

/** What `diffBundles` resolves to. */
export interface DiffBundlesResult extends ContentsDiff {
  readonly before: ComparedBundle;
  readonly after: ComparedBundle;
  readonly warnings: readonly string[];
}

interface DiffRun extends ResolvedRun {
  from?: ReadSource;
  to?: ReadSource;
}

export async function diffBundles(options: DiffBundlesOptions, host: PipelineHost): Promise<DiffBundlesResult> {
  const {from, to} = options;
  options.signal?.throwIfAborted();
  const remote = [from, to].filter((source) => isRemote(source));
  const choose = () => chooseSourceBackend(options, remote, host);
  const readStep = (name: 'from' | 'to', format: (run: DiffRun) => BundleFormat): Step<DiffRun> => ({
    name,
    title: `Read ${describeSource(options[name])}`,
    task: async (run, report) => {
      const {selection} = run;
      const found = await readSource(options[name], report.watch(options), {selection, format: format(run)}, host);
      run[name] = found;
      report.title = `Read ${found.bundle.name}: ${count(found.contents.files.length, 'file')}`;
      report.warn(found.warnings);
    },
  });
  // The format of a build directory follows from the other bundle.
  const [first, second] = from.kind === 'folder' ? (['to', 'from'] as const) : (['from', 'to'] as const);
  const run: DiffRun = {host};
  await runPipeline<DiffRun>(run, [
    {...resolveStep(choose), enabled: remote.length > 0},
    readStep(first, () => 'v2'),
    readStep(second, () => made(run, first).contents.format),
  ]);
  const [before, after] = [made(run, 'from'), made(run, 'to')];
  return {
    before: before.bundle,
    after: after.bundle,
    ...compareContents(before.contents, after.contents),
    warnings: [...new Set([...before.warnings, ...after.warnings])],
  };
}
