/** A value that a setting cannot have. The message ends the sentence "--flag ...": "must be a whole number". */
export class InvalidValue extends Error {}
