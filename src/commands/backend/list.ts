import {warnOfIncompleteApi} from '../../cli/settings/connection-options.js';
import {loadAllBackends} from '../../cli/settings/load-backends.js';
import {BaseCommand, Flags, type CommandContext} from '../../cli/command/base-command.js';
import {flagsOf} from '../../cli/command/flags.js';
import {renderBackends} from '../../cli/output/render-lists.js';

export default class BackendList extends BaseCommand<typeof BackendList, 'backend:list'> {
  static override readonly summary = 'List backends with their plugin, capabilities and missing settings.';
  static override readonly description =
    'Loads the backends of every plugin; --runtime-backend shows one. Checks settings only and sends nothing, unless ' +
    '--verify is passed.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --runtime-backend acme --backend-option region=eu',
    '<%= config.bin %> <%= command.id %> --verify',
  ];
  static override readonly flags = {
    ...flagsOf('connection'),
    verify: Flags.boolean({
      summary: 'Ask the services of the configured backends whether they accept the credentials.',
    }),
  };

  protected async execute(context: CommandContext) {
    const settings = await context.loadSettings();
    const {runtimeBackend} = settings;
    const {output} = context;
    warnOfIncompleteApi(context, settings);
    const registry = await loadAllBackends(context, settings);
    // Throws for an unknown backend.
    const chosen = runtimeBackend.value === 'auto' ? undefined : registry.find(runtimeBackend.value);
    const shown = chosen !== undefined && runtimeBackend.source.kind === 'flag' ? [chosen] : registry.registrations;
    const {describeBackends} = await import('../../cli/setup/check-credentials.js');
    const backends = await describeBackends(shown, context, settings, this.flags.verify);
    return renderBackends(backends, registry.failures, output);
  }
}
