import {warnOfIncompleteApi} from '../../cli/backends/api-completeness.js';
import {loadWantedBackends} from '../../cli/backends/load-backends.js';
import {BaseCommand} from '../../cli/command/base-command.js';
import type {CommandContext, JsonDocument} from '../../cli/command/command-context.js';
import {
  bundleFlags,
  columnsFlag,
  connectionFlags,
  rateLimitFlags,
  pushFlags,
  waitFlags,
  waitForSlotFlag,
} from '../../cli/command/flags.js';

export default class ConfigShow extends BaseCommand<typeof ConfigShow> {
  static override readonly summary = 'Show every setting with its value, its source and what it overrode.';
  static override readonly description =
    'Takes the flags of the other commands, and shows what they would make of them: a flag before the environment before ' +
    'the configuration file before the default. Secrets are masked. Columns: setting, value, source, overrode, and on ' +
    'request flag.';
  static override readonly examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --target staging --columns setting,value',
    '<%= config.bin %> <%= command.id %> --json',
  ];
  static override readonly flags = {
    ...connectionFlags,
    ...bundleFlags,
    ...pushFlags,
    ...waitFlags,
    ...waitForSlotFlag,
    ...rateLimitFlags,
    ...columnsFlag,
  };

  protected async execute(context: CommandContext): Promise<JsonDocument> {
    const {renderSettings, settingColumns} = await import('../../cli/render/settings.js');
    const {chooseColumns} = await import('../../cli/render/table.js');
    const columns = chooseColumns(settingColumns, this.flags.columns);
    const explained = await context.explainSettings();
    const {runtimeBackend} = explained.resolved;
    const names = new Set(explained.settings.map(({name}) => name));
    warnOfIncompleteApi(context.output, runtimeBackend.value, (key) => names.has(key));
    // A backend from a plugin tells which of its options are secrets: they are masked from here on.
    await loadWantedBackends({context, settings: explained.resolved, config: this.config, flags: this.flags});
    return renderSettings(explained, columns, context.output);
  }
}
