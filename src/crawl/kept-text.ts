/** Text that outlives its page: copied, since V8 keeps the whole page alive for a slice of it. */

/** A well-formed copy: halves of surrogate pairs become U+FFFD. */
export const copyOf = (text: string): string => Buffer.from(text).toString()

/** A copy for one line of a display: no controls, no blanks around. */
export const shownLine = (text: string): string => copyOf(text.replace(/\p{Cc}+/gu, ' ').trim())
