import {existsSync} from 'node:fs';
import {basename, resolve} from 'node:path';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {bundleOptions, commandHost} from '../../cli/command/operation-options.js';
import {bundleFlags, columnsFlag, connectionFlags, rateLimitFlags, eventsFlag} from '../../cli/command/flags.js';
import {Args, Flags} from '../../cli/process/oclif.js';
import type {BundleSource} from '../../operations/bundle-source.js';
import {reachBackends} from '../../cli/backends/reach-backends.js';
import type {Body, BundleInspectDocument} from '../../cli/output/documents.js';
import type {Settings} from '../../cli/settings/settings.js';

export default class BundleInspect extends BaseCommand<typeof BundleInspect> {
  static override readonly summary = "Show a bundle's files, configuration, pattern matches and problems.";
  static override readonly description =
    'Takes an archive file or the ID of an uploaded bundle, which is downloaded to a temporary folder. Reports patterns that ' +
    'match no file and files that may contain secrets. A v1 archive does not contain its configuration, so its files have no ' +
    'category. Columns: category, size, path.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> bundle.tar.gz',
    '<%= config.bin %> <%= command.id %> 42 --project my-shop',
    '<%= config.bin %> <%= command.id %> latest --project my-shop',
    '<%= config.bin %> <%= command.id %> bundle.tar.gz --html bundle.html',
    '<%= config.bin %> <%= command.id %> 42 --html page.html --compare latest --project my-shop',
  ];
  static override readonly args = {
    bundle: Args.string({required: true, description: 'Archive file, ID of an uploaded bundle, or latest.'}),
  };
  static override readonly flags = {
    ...connectionFlags,
    'root-dir': bundleFlags['root-dir'],
    'config-path': bundleFlags['config-path'],
    html: Flags.string({
      helpValue: 'FILE',
      summary: 'Also write a web page: sizes as a treemap, the largest files, configuration and patterns.',
      helpGroup: 'OUTPUT',
    }),
    compare: Flags.string({
      helpValue: 'BUNDLE',
      dependsOn: ['html'],
      summary: 'Also show on the page what has changed since this bundle: whatever bundle:diff takes.',
      helpGroup: 'OUTPUT',
    }),
    ...columnsFlag,
    ...rateLimitFlags,
    ...eventsFlag,
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {preparePage} = await import('../../cli/output/page-file.js');
    const {fileColumns, renderInspection} = await import('../../cli/render/bundles.js');
    const {chooseColumns} = await import('../../cli/render/table.js');
    const columns = chooseColumns(fileColumns, this.flags.columns);
    const {html, compare} = this.flags;
    const {cwd, output} = context;
    const page = html === undefined ? undefined : await preparePage(resolve(cwd, html));
    const settings = await context.loadSettings();
    const {inspection, diff} = await this.#read(context, settings, compare);
    const document = renderInspection(inspection, columns, output);
    if (page === undefined) return document;
    const {renderBundlePage} = await import('../../html/bundle-page.js');
    const name = 'bundleId' in inspection ? `Bundle ${String(inspection.bundleId)}` : basename(this.args.bundle);
    await page.write(renderBundlePage(inspection, {name, diff, mask: (text) => output.mask(text)}));
    output.outcome(`Page: ${page.path}`);
    return {...inspection, html: page.path} satisfies Body<BundleInspectDocument>;
  }

  /** Inspects the bundle, and compares it with another one. */
  async #read(context: CommandContext, settings: Settings, compare: string | undefined) {
    const {inspectArchive, inspectBundle} = await import('../../operations/inspect-bundle.js');
    const {bundleSource, isRemote} = await import('../../operations/bundle-source.js');
    const {bundle} = this.args;
    const {signal, cwd} = context;
    const from = compare === undefined ? undefined : await bundleSource(compare, cwd);
    // A name with a slash or an extension is not an ID, so report a missing file instead.
    const isFile = /[/\\.]/.test(bundle) || existsSync(resolve(cwd, bundle));
    const reached =
      isFile && (from === undefined || !isRemote(from))
        ? undefined
        : await reachBackends({
            context,
            settings,
            config: this.config,
            flags: this.flags,
            needs: ['projectSlug'],
          });
    const {connection, values, host} = reached ?? {host: commandHost(context)};
    const options = {rootDir: settings.rootDir?.value, configPath: settings.configPath?.value, signal};
    const uploaded =
      isFile || reached === undefined
        ? undefined
        : await inspectBundle({...reached.connection, ...options, ...reached.values, bundleId: bundle}, host);
    const inspection = uploaded ?? (await inspectArchive(bundle, options, host));
    if (from === undefined) return {inspection};
    const {diffBundles} = await import('../../operations/diff-bundles.js');
    const {buildDirectory, message, ...content} = await bundleOptions(settings);
    const to: BundleSource = uploaded ? {kind: 'bundle', bundleId: uploaded.bundleId} : await bundleSource(bundle, cwd);
    const diff = await diffBundles({...content, ...connection, ...values, from, to, signal, cwd}, host);
    return {inspection, diff};
  }
}
