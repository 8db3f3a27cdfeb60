/** Small PDFs for tests: pages of lines in a font whose codes are Unicode, with a title, an author and a date. */

const toUnicode = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def
1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end`

export function makePdf(pages: readonly (readonly string[])[]): Buffer {
  const objects: string[] = ['<</Type/Catalog/Pages 2 0 R>>', '']
  const add = (text: string): number => objects.push(text)
  const stream = (text: string): number =>
    add(`<</Length ${text.length}>>\nstream\n${text}\nendstream`)
  const codes = stream(toUnicode)
  const descriptor = add(
    '<</Type/FontDescriptor/FontName/F/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>',
  )
  const glyphs = add(
    `<</Type/Font/Subtype/CIDFontType2/BaseFont/F/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor ${descriptor} 0 R/DW 1000>>`,
  )
  const font = add(
    `<</Type/Font/Subtype/Type0/BaseFont/F/Encoding/Identity-H/DescendantFonts[${glyphs} 0 R]/ToUnicode ${codes} 0 R>>`,
  )
  const kids = pages.map((lines) => {
    const shown = lines.map(
      (line) => `<${Buffer.from(line, 'utf16le').swap16().toString('hex')}> Tj T*`,
    )
    const content = stream(`BT /F1 12 Tf 14 TL 50 750 Td ${shown.join(' ')} ET`)
    return add(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents ${content} 0 R/Resources<</Font<</F1 ${font} 0 R>>>>>>`,
    )
  })
  objects[1] = `<</Type/Pages/Count ${kids.length}/Kids[${kids.map((kid) => `${kid} 0 R`).join(' ')}]>>`
  const info = add("<</Title(A report)/Author(Li Lei)/CreationDate(D:20240503083000+08'00')>>")
  let file = '%PDF-1.4\n'
  const offsets = objects.map((text, i) => {
    const offset = file.length
    file += `${i + 1} 0 obj\n${text}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`
  const end = `trailer<</Size ${objects.length + 1}/Root 1 0 R/Info ${info} 0 R>>\nstartxref\n${file.length}\n%%EOF`
  return Buffer.from(file + table + end, 'latin1')
}
