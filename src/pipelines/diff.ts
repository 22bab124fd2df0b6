import type {DiffBundlesOptions, DiffBundlesResult} from '../operations/bundle-options.js';
import {describeSource, isRemote, openSources, readSource, type OpenedSources} from '../operations/bundle-source.js';
import {count} from '../text/sentence.js';
import {compareContents} from '../bundle/contents/compare-contents.js';
import {quickLook} from '../operations/call-backend.js';
import {variablesOf} from '../operations/targets/compare-target.js';
import type {PipelineHost} from './host.js';
import {runPipeline, type Step} from './run.js';

interface DiffRequest {
  readonly options: DiffBundlesOptions;
  /** Undefined if a backend has one of the bundles. */
  readonly local: OpenedSources | undefined;
}

const open: Step<DiffRequest> = {
  name: 'resolve',
  title: 'Prepare',
  due: ({request}) => request.local === undefined,
  run: async ({request: {options}}, host) => ({sources: await openSources(options, options, host)}),
};

/** The format of a build directory follows from the other bundle, which is read first. */
function readBundle(name: 'from' | 'to'): Step<DiffRequest> {
  return {
    name,
    title: ({request}) => `Read ${describeSource(request.options[name])}`,
    async run({request, sources = request.local, compared = {}}, host) {
      if (sources === undefined) throw new Error('The bundles are not open.');
      const {options} = request;
      const other = compared.from ?? compared.to;
      const read = await readSource(sources[name], options, other?.contents.format ?? 'v2', host);
      host.outlet.title(`Read ${read.bundle.name}: ${count(read.contents.files.length, 'file')}`);
      const missingVariables = other && (await lackedBy(sources, options.variables ?? []));
      return {compared: {...compared, [name]: read}, missingVariables};
    },
  };
}

export async function diffBundles(options: DiffBundlesOptions, host: PipelineHost): Promise<DiffBundlesResult> {
  const {from, to} = options;
  options.signal?.throwIfAborted();
  const local = isRemote(from) || isRemote(to) ? undefined : {from, to};
  const reading = [readBundle('from'), readBundle('to')];
  const rows = [open, ...(from.kind === 'folder' ? reading.toReversed() : reading)];
  const {compared, missingVariables, warnings} = await runPipeline(rows, {options, local}, host);
  if (compared?.from === undefined || compared.to === undefined) throw new Error('The bundles were not read.');
  return {
    before: compared.from.bundle,
    after: compared.to.bundle,
    ...compareContents(compared.from.contents, compared.to.contents),
    missingVariables,
    warnings,
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
