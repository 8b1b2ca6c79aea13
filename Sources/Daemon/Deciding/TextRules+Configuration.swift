import Conduct
import Posts

extension TextRules {
    /// The rules for what a mirror sends.
    ///
    /// Where links are off, a post with one is left out; on X, where a link costs more than ten posts without, only the
    /// link is.
    ///
    /// - Parameters:
    ///   - configuration: The mirror's settings, the bot's network among them.
    ///   - limits: What the bot's server allows.
    ///   - repliesNameThePerson: Whether a reply must name the person answered.
    init(_ configuration: MirrorConfiguration, limits: PublishingLimits, repliesNameThePerson: Bool = true) {
        let network = configuration.botNetwork
        self.init(
            network: network, links: configuration.links ? .kept : network == .x ? .removed : .leftOut,
            minimumAgeDays: 0, limits: limits, repliesNameThePerson: repliesNameThePerson)
    }
}
