/* oxlint-disable no-restricted-globals -- which system this is, is a fact, not a setting */

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const onWindows = process.platform === 'win32';

/** The variable that says where a user's data is, if nothing else does. */
export const homeVariable = onWindows ? 'LOCALAPPDATA' : 'HOME';
