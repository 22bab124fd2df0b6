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
import type {DataOf} from '../operations/outlet.js';
import {resolveStep} from './steps.js';
import type {RunHost} from '../operations/host.js';
import type {PipelineHost} from './host.js';
import {Pipeline} from './run.js';

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

export async function diffBundles(options: DataOf<DiffBundlesOptions>, host: PipelineHost): Promise<DiffBundlesResult> {
  const {from, to} = options;
  options.signal?.throwIfAborted();
  const start = Pipeline.start(host);
  const opened: Pipeline<OpenedSources> =
    isRemote(from) || isRemote(to)
      ? start.step(resolveStep((host) => openSources({from, to}, options, host)))
      : start.after({from, to});
  const read = async (source: OpenedSource, format: BundleFormat, host: RunHost): Promise<ReadSource> => {
    const found = await readSource(source, options, format, host);
    host.outlet.title(`Read ${found.bundle.name}: ${count(found.contents.files.length, 'file')}`);
    return found;
  };
  const title = (name: 'from' | 'to') => `Read ${describeSource(options[name])}`;
  // The format of a build directory follows from the other bundle.
  const [first, second] = from.kind === 'folder' ? (['to', 'from'] as const) : (['from', 'to'] as const);
  const pipeline = opened
    .step({
      name: first,
      title: title(first),
      task: async (sources, host) => ({sources, one: await read(sources[first], 'v2', host)}),
    })
    .step({
      name: second,
      title: title(second),
      task: async ({sources, one}, host) => ({
        one,
        other: await read(sources[second], one.contents.format, host),
      }),
    });
  const {one, other} = await pipeline.run();
  const [before, after] = first === 'from' ? [one, other] : [other, one];
  return {
    before: before.bundle,
    after: after.bundle,
    ...compareContents(before.contents, after.contents),
    warnings: pipeline.warnings,
  };
}
