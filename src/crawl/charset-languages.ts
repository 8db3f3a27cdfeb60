/** What the charset guess knows of languages: their letters beyond ASCII by frequency, and which charsets each was written in. Data only. */

/** Small letters beyond ASCII, the most frequent first. Ranks are enough: the guess adds up over a whole text. */
export const alphabets = {
  en: '’é',
  de: 'üäöß',
  fr: 'éèàêçôîûùâïëœ',
  es: 'óíáéñúü',
  pt: 'ãçáéíóõêúâà',
  it: 'àèùòìé',
  ca: 'àéèóíòçúïü',
  nl: 'ëéïöèü',
  sv: 'äåöé',
  da: 'øåæé',
  fi: 'äöå',
  is: 'áíðöæþúóéý',
  pl: 'łęążśćóńź',
  cs: 'íáěéřšžčýůúňťďó',
  sk: 'áíéčžýšúľťôňďäĺŕó',
  hu: 'áéöóőíüúű',
  hr: 'čšžćđ',
  ro: 'ăîâșțşţ',
  sq: 'ëç',
  et: 'äõüöšž',
  lv: 'āīēšņļūžģčķ',
  lt: 'ėšųžįąčūę',
  tr: 'ıişüğçöâ',
  mt: 'ħġżċà',
  cy: 'ŵâŷîêôû',
  eo: 'ĉŭĝŝĵĥ',
  vi: 'đ\u0301ươô\u0300âê\u0323ă\u0309\u0303',
  ru: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфёъ',
  uk: 'оанивіертсклудмпяьзгбчхйжїшєюцщґф',
  be: 'анеіорылстдкмяпувзўьчбгцйхжшюёэф',
  bg: 'аоеитнрсвлпкдмзуъбгяцчжшщхйюфь',
  sr: 'аоиенртсјвкулпмдгзђчбшцжћњљхџф',
  el: 'αοτειςνσρηπυκμλίόδάγωέχύθφήώβξζψϊ',
  he: 'יוהלאתרשמבןםקעדנפצחכגזטךףץס',
  ar: 'اليمنرتبهدعوسفقكحجشصخةىضطأغثئءإزذظؤآپچژگ',
  th: 'านรอกเงมยลวดทสตะปบคหแจพชขใไโผิีึืุู่้็์ัําถซธภญศณษฟฐ',
} as const satisfies Record<string, string>

export type Language = keyof typeof alphabets

/**
 * Charsets of one byte a character with what was written in them. `cost`: how much better, in natural logarithms, the evidence for this
 * charset must be: few pages are in those of DOS and the Macintosh, and iso-8859-15 differs from windows-1252 in eight characters.
 */
export const singleByteCharsets: readonly {
  charset: string
  cost: number
  languages: readonly Language[]
}[] = [
  // oxfmt-ignore
  { charset: 'windows-1252', cost: 0, languages: ['en', 'de', 'fr', 'es', 'pt', 'it', 'ca', 'nl', 'sv', 'da', 'fi', 'is', 'sq'] },
  { charset: 'windows-1251', cost: 0, languages: ['ru', 'uk', 'be', 'bg', 'sr'] },
  { charset: 'windows-1250', cost: 1, languages: ['pl', 'cs', 'sk', 'hu', 'hr', 'ro'] },
  { charset: 'iso-8859-2', cost: 1.5, languages: ['pl', 'cs', 'sk', 'hu', 'hr', 'ro'] },
  { charset: 'windows-1253', cost: 0, languages: ['el'] },
  { charset: 'iso-8859-7', cost: 0.5, languages: ['el'] },
  { charset: 'windows-1254', cost: 1, languages: ['tr'] },
  { charset: 'windows-1255', cost: 0, languages: ['he'] },
  { charset: 'iso-8859-8', cost: 0.5, languages: ['he'] },
  { charset: 'windows-1256', cost: 0, languages: ['ar'] },
  { charset: 'iso-8859-6', cost: 0.5, languages: ['ar'] },
  { charset: 'windows-1257', cost: 1, languages: ['lt', 'lv', 'et'] },
  { charset: 'iso-8859-13', cost: 1.5, languages: ['lt', 'lv', 'et'] },
  { charset: 'iso-8859-4', cost: 1.5, languages: ['lv', 'lt', 'et'] },
  { charset: 'iso-8859-10', cost: 2.5, languages: ['is', 'lt', 'et'] },
  { charset: 'windows-1258', cost: 1, languages: ['vi'] },
  { charset: 'windows-874', cost: 0, languages: ['th'] },
  { charset: 'koi8-u', cost: 0, languages: ['ru', 'uk', 'be', 'bg'] },
  { charset: 'iso-8859-5', cost: 1, languages: ['ru', 'uk', 'be', 'bg', 'sr'] },
  { charset: 'ibm866', cost: 1, languages: ['ru', 'be', 'bg'] },
  { charset: 'x-mac-cyrillic', cost: 2, languages: ['ru', 'uk', 'be', 'bg', 'sr'] },
  { charset: 'ibm855', cost: 3, languages: ['ru', 'sr', 'bg'] },
  { charset: 'iso-8859-15', cost: 2, languages: ['fr', 'fi', 'de', 'es', 'et'] },
  { charset: 'iso-8859-16', cost: 2, languages: ['ro', 'hu', 'hr'] },
  { charset: 'iso-8859-3', cost: 2, languages: ['mt', 'eo'] },
  { charset: 'iso-8859-14', cost: 2, languages: ['cy'] },
  { charset: 'macintosh', cost: 3, languages: ['en', 'de', 'fr', 'es', 'pt', 'it'] },
  { charset: 'ibm850', cost: 4, languages: ['de', 'fr', 'es', 'pt', 'it'] },
  { charset: 'ibm852', cost: 4, languages: ['pl', 'cs', 'sk', 'hu', 'hr'] },
]
