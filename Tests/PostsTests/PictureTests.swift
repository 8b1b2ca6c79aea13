import Expectations
import Posts
import Testing

@Suite struct PictureTests {
    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], PictureFormat.jpeg),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], .png),
            (Array("RIFF....WEBPVP8 ".utf8), .webp),
            (Array("GIF89a".utf8), nil), (Array("RIFF....WAVEfmt ".utf8), nil),
            (Array("<svg xmlns=".utf8), nil),
            (Array("<!DOCTYPE html>".utf8), nil), ([0xFF, 0xD8], nil), ([], nil),
        ] as [([UInt8], PictureFormat?)])
    func whatAPictureIsIsToldByItsBytes(_ bytes: [UInt8], _ format: PictureFormat?) {
        #expect(PictureFormat(bytes) == format)
    }

    @Test func onlyAPostOfNothingButFewPicturesHasSome() {
        let picture = Picture(url: "https://pictures.example/1.jpg", alt: "a hill")
        #expect(Picture.all([picture, picture]) == [picture, picture])
        #expect(Picture.all([picture, nil]).isEmpty)
        #expect(Picture.all([picture], besides: true).isEmpty)
        #expect(Picture.all(Array(repeating: picture, count: 5)).isEmpty)
    }

    @Test func whatIsStoredIsReadAgain() {
        var pictures = [
            Picture(
                url: "https://pictures.example/a?b=1&c", alt: "\"quoted\" 山\n", width: 3, height: 4)
        ]
        pictures.append(Picture())
        pictures[1].isSensitive = true
        #expect([Picture](stored: pictures.stored) == pictures)
        #expect([Picture]().stored == nil)
        #expect([Picture](stored: nil).isEmpty)
        #expect([Picture](stored: "{").isEmpty)
    }

    @Test(arguments: [
        ("https://pictures.example/1.jpg", true), ("javascript:alert(1)", false),
        ("file:///etc/passwd", false),
        ("https://pictures.example/a b", false), ("https://pictures.example/\u{7}", false),
        ("https://pictures.example/" + String(repeating: "a", count: 5_000), false),
    ])
    func anAddressThatIsNoneIsNotKept(_ url: String, _ isKept: Bool) {
        #expect((Picture(url: url).cleaned.url != nil) == isKept)
    }

    @Test func aDescriptionIsPlainTextOfSomeLength() {
        expect(Picture(alt: " a\u{0}b\u{202E}c \n").cleaned.alt) { $0.contains("\u{0}") == false }
        #expect(Picture(alt: "  a hill\n").cleaned.alt == "a hill")
        #expect(Picture(alt: String(repeating: "x", count: 20_000)).cleaned.alt.count == 10_000)
        #expect(Picture(width: 0, height: 5).width == nil)
        #expect(Picture(width: 5).width == nil)
    }
}
