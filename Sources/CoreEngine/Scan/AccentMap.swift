/// Removes accents from text for `[d]` and `[cd]` comparisons. Rules: query-language §11.
///
/// A Latin, Greek or Cyrillic letter with accents is replaced with the letter without them, and combining marks are
/// removed. Letters that are separate letters of an alphabet (ø, đ, ł, æ, ß) stay. When cases are folded too, letters
/// become lower case by Unicode's rules (so ß becomes "ss"), as in Foundation's comparisons, and not by the smaller
/// table of `CaseMap`.
enum AccentMap {
    /// Each word is a base letter followed by its forms with accents.
    private static let letters = """
        AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ BḂḄḆ CÇĆĈĊČḈ DĎḊḌḎḐḒ EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ FḞ GĜĞĠĢǦǴḠ HĤȞḢḤḦḨḪ IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ JĴ KĶǨḰḲḴ \
        LĹĻĽḶḸḺḼ MḾṀṂ NÑŃŅŇǸṄṆṈṊ OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ PṔṖ RŔŖŘȐȒṘṚṜṞ SŚŜŞŠȘṠṢṤṦṨ TŢŤȚṪṬṮṰ UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ \
        VṼṾ WŴẀẂẄẆẈ XẊẌ YÝŶŸȲẎỲỴỶỸ ZŹŻŽẐẒẔ aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ \
        hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ sśŝşšșṡṣṥṧṩ \
        tţťțṫṭṯṱẗ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ ÆǢǼ ØǾ æǣǽ øǿ ſẛ ƷǮ ʒǯ ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺᾼ \
        ΕΈἘἙἚἛἜἝῈ ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊῌ ΙΊΪἸἹἺἻἼἽἾἿῘῙῚ ΟΌὈὉὊὋὌὍῸ ΡῬ ΥΎΫὙὛὝὟῨῩῪ ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺῼ αάἀἁἂἃἄἅἆἇὰᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲ \
        ηήἠἡἢἣἤἥἦἧὴᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ιΐίϊἰἱἲἳἴἵἶἷὶῐῑῒῖῗ οόὀὁὂὃὄὅὸ ρῤῥ υΰϋύὐὑὒὓὔὕὖὗὺῠῡῢῦῧ ωώὠὡὢὣὤὥὦὧὼᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ ІЇ АӐӒ ГЃ ЕЀЁӖ ЖӁӜ ЗӞ \
        ИЍЙӢӤ КЌ ОӦ УЎӮӰӲ ЧӴ ЫӸ ЭӬ аӑӓ гѓ еѐёӗ жӂӝ зӟ ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ії ѴѶ ѵѷ ӘӚ әӛ ӨӪ өӫ
        """
    /// Maps each character up to U+1FFF to its letter without accents; 0 for all others.
    private static let bases: [UInt16] = {
        var bases = [UInt16](repeating: 0, count: 0x2000)
        var base: UInt16 = 0
        for unit in letters.unicodeScalars.map({ UInt16(truncatingIfNeeded: $0.value) }) {
            if unit == 0x20 { base = 0 } else if base == 0 { base = unit } else { bases[Int(unit & 0x1FFF)] = base }
        }
        return bases
    }()

    /// - Parameter work: the bytes that the call has processed so far. The count goes on from this value, so that the
    ///   call can be interrupted in a long text.
    static func folded(_ text: Bytes, cases: Bool, _ work: ByteWork) throws(RealmError) -> [UInt8] {
        var work = work
        var out: [UInt8] = []
        // The String of the text needs memory too: it can be three times as long as the text.
        try CMemory.expect(text.count, each: 4)
        try out.makeRoom(for: text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars where !isMark(scalar.value) {
            // Counts as 64 bytes: a scalar takes much longer here than a byte in other loops.
            try work.look(64)
            try out.makeRoom(for: 16)
            let base = scalar.value < 0x2000 ? bases[Int(scalar.value)] : 0
            let letter = Unicode.Scalar(base).flatMap { base == 0 ? nil : $0 } ?? scalar
            guard cases else {
                out.append(contentsOf: UTF8.encode(letter) ?? UTF8.encodedReplacementCharacter)
                continue
            }
            if letter.isASCII {
                out.append(UInt8(truncatingIfNeeded: letter.value) | (letter.properties.isUppercase ? 0x20 : 0))
                continue
            }

            // Goes through the capital letter: both small forms of sigma become one letter, and ß becomes two.
            for capital in letter.properties.uppercaseMapping.unicodeScalars {
                out.append(contentsOf: capital.properties.lowercaseMapping.utf8)
            }
        }
        return out
    }

    /// Whether a scalar is a combining mark for letters of these scripts.
    private static func isMark(_ value: UInt32) -> Bool {
        switch value {
        case 0x0300...0x036F, 0x0483...0x0487, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }
}
