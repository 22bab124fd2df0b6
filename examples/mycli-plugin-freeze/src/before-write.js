import process from 'node:process';
import {endOfFreeze, isFrozenTarget} from './windows.js';

/**
 * Vetoes deployments to frozen targets. Uploads and deletions go on. An invalid `FREEZE_WINDOWS` is an error, which
 * stops the change too: a freeze with a typing mistake must not be none.
 * @type {import('mycli/backend').BeforeWriteHook}
 */
export default async function beforeWrite({targetSlug}) {
  const {FREEZE_WINDOWS: windows = '', FREEZE_TARGETS: targets = ''} = process.env;
  const end = endOfFreeze(windows, new Date());
  if (end === undefined || targetSlug === undefined || !isFrozenTarget(targets, targetSlug)) return undefined;
  return {veto: `${targetSlug} is frozen until ${end.toISOString()}`};
}
