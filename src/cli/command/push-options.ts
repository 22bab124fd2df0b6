import type {BundleFormat} from '../../bundle/types.js';
import type {Settings} from '../settings/settings.js';
import type {CommandContext} from './context.js';
import {archiveSettings, bundleOptions, deploymentOptions, rejectV2OnlyFlags} from './operation-options.js';
import {pushRecordFiles, uploadStateFiles} from './records.js';

/** What a push is made of, by the settings: its bundle, its deployment, and what is remembered of it. */
export async function pushOptions(
  settings: Settings,
  {archive, invalidate}: {readonly archive?: string | undefined; readonly invalidate?: readonly string[] | undefined},
  context: CommandContext,
) {
  const {dataDir} = context.config;
  return {
    ...(await bundleOptions(archive === undefined ? settings : archiveSettings(settings))),
    ...deploymentOptions(settings, context, {invalidate}),
    v2: settings.v2.source.kind === 'default' ? undefined : settings.v2.value,
    pushRecords: pushRecordFiles(dataDir),
    uploadStates: uploadStateFiles(dataDir),
    archive,
    cwd: context.cwd,
    onFormat: (format: BundleFormat) => rejectV2OnlyFlags(format, settings, '--v2'),
  };
}
