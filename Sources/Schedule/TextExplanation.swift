package import Posts

/// Why a text was chosen for a slot, for people and for the `explanation` of an action.
package struct TextExplanation: Equatable, Codable, Sendable, CustomStringConvertible {
    /// The slot's minute.
    package let minute: MinuteOfDay
    /// How far from the slot's minute texts were looked for; nil if the least recently used one had to do.
    package let windowMinutes: Int?
    /// How many texts were equally likely.
    package let poolSize: Int
    /// Whether there was no text of the required age.
    package let isAgeRelaxed: Bool

    package init(minute: MinuteOfDay, windowMinutes: Int?, poolSize: Int, isAgeRelaxed: Bool) {
        self.minute = minute
        self.windowMinutes = windowMinutes
        self.poolSize = poolSize
        self.isAgeRelaxed = isAgeRelaxed
    }

    /// One line for people.
    package var description: String {
        var line: String
        if let windowMinutes {
            let texts = poolSize == 1 ? "the only text" : "one of \(poolSize) texts"
            let place = windowMinutes < 720 ? "within \(windowMinutes) minutes of \(minute)" : "of any time of day"
            line = "\(texts) \(place)"
        } else {
            line = "the least recently used text, since all were used lately"
        }
        return isAgeRelaxed ? line + ", younger than wished" : line
    }
}
