/// The two languages of the sample; the raw value is the BCP 47 tag.
package enum SampleLanguage: String, CaseIterable, Sendable {
    case japanese = "ja"
    case english = "en"
}
