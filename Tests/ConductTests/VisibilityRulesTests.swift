import Conduct
import Posts
import Testing

@Suite struct VisibilityRulesTests {
    @Test(arguments: [
        (Visibility.public, Visibility.unlisted), (.unlisted, .unlisted), (.private, .private), (.direct, .direct),
    ])
    func replyIsNeverWiderThanTheMention(mention: Visibility, reply: Visibility) {
        #expect(VisibilityRules.replyVisibility(for: mention) == reply)
    }

    @Test(arguments: [
        (Visibility.public, Visibility.unlisted, Visibility.unlisted), (.public, .public, .public),
        (.unlisted, .public, .unlisted), (.private, .public, .private), (.public, .direct, .direct),
        (.direct, .unlisted, .direct), (.direct, .direct, .direct),
    ])
    func postIsNeverWiderThanTheOriginal(original: Visibility, preferred: Visibility, result: Visibility) {
        #expect(VisibilityRules.postVisibility(original: original, preferred: preferred) == result)
    }
}
