/* oxlint-disable no-restricted-globals -- which system this is, is a fact, not a setting */

export const onWindows = process.platform === 'win32';
