import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {connectionFlags, rateLimitFlags, eventsFlag} from '../../cli/command/flags.js';
import {Args, Flags} from '../../cli/process/oclif.js';
import {reachBackends} from '../../cli/backends/reach-backends.js';
import {exitCodes} from '../../errors/index.js';

export default class BundleVerify extends BaseCommand<typeof BundleVerify> {
  static override readonly summary = 'Verify that an uploaded bundle is exactly what its manifest says.';
  static override readonly description =
    'Downloads the bundle to a temporary folder and compares the archive, its configuration and the digest of every ' +
    'file with the manifest that bundle:build wrote. If anything differs, it names the differences and exits with ' +
    `${String(exitCodes.mismatch)}.`;
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %> 42 --project my-shop --manifest release.tar.gz.json',
  ];
  static override readonly args = {
    bundle: Args.string({required: true, description: 'ID of an uploaded bundle, or latest.'}),
  };
  static override readonly flags = {
    ...connectionFlags,
    manifest: Flags.string({
      helpValue: 'FILE',
      summary: 'Manifest to compare with; default bundle.tar.gz.json or bundle.tar.json.',
      helpGroup: 'BUNDLE',
    }),
    ...rateLimitFlags,
    ...eventsFlag,
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const settings = await context.loadSettings();
    const {values, connection, host} = await reachBackends({
      context,
      settings,
      config: this.config,
      flags: this.flags,
      needs: ['projectSlug'],
    });
    const {verifyBundle} = await import('../../operations/verify-bundle.js');
    const {renderVerified} = await import('../../cli/render/diff.js');
    const {manifest} = this.flags;
    const {cwd} = context;
    const options = {...connection, ...values, bundleId: this.args.bundle, manifest, cwd};
    return renderVerified(await verifyBundle(options, host), context.output);
  }
}
