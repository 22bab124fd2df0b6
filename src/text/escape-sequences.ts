const escapeSequences =
  // CSI; the strings of OSC, DCS, SOS, PM and APC up to their end; all that are shorter.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/gu;

/** Text without what controls a terminal: colors, and titles and links, which Node's own function leaves. */
export function withoutEscapeSequences(text: string): string {
  return text.replaceAll(escapeSequences, '');
}
