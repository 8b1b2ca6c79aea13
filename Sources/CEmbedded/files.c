// The files that are part of the program. SwiftPM's own way, an array literal of numbers in Swift, takes the compiler
// longer than the modules that use it; `#embed` takes hundredths of a second.
//
// A new file is an array and a line of the table, in the order of the names; a test compares the table with the folders.

#include "CEmbedded.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char conduct_first_reply_tsv[] = {
#embed "../../Sources/Conduct/Resources/first-reply.tsv"
};
static const unsigned char conduct_fitness_tsv[] = {
#embed "../../Sources/Conduct/Resources/fitness.tsv"
};
static const unsigned char conduct_replies_txt[] = {
#embed "../../Sources/Conduct/Resources/replies.txt"
};
static const unsigned char conduct_server_rules_tsv[] = {
#embed "../../Sources/Conduct/Resources/server-rules.tsv"
};
static const unsigned char conduct_stop_txt[] = {
#embed "../../Sources/Conduct/Resources/stop.txt"
};
static const unsigned char localization_ja_commands_po[] = {
#embed "../../Sources/Localization/Resources/ja/commands.po"
};
static const unsigned char localization_ja_control_health_po[] = {
#embed "../../Sources/Localization/Resources/ja/control-health.po"
};
static const unsigned char localization_ja_control_reports_po[] = {
#embed "../../Sources/Localization/Resources/ja/control-reports.po"
};
static const unsigned char localization_ja_domain_po[] = {
#embed "../../Sources/Localization/Resources/ja/domain.po"
};
static const unsigned char localization_ja_settings_po[] = {
#embed "../../Sources/Localization/Resources/ja/settings.po"
};
static const unsigned char localization_ja_web_pages_po[] = {
#embed "../../Sources/Localization/Resources/ja/web-pages.po"
};
static const unsigned char localization_ja_web_server_po[] = {
#embed "../../Sources/Localization/Resources/ja/web-server.po"
};
static const unsigned char localization_ja_web_templates_po[] = {
#embed "../../Sources/Localization/Resources/ja/web-templates.po"
};
static const unsigned char localization_ja_web_today_po[] = {
#embed "../../Sources/Localization/Resources/ja/web-today.po"
};
static const unsigned char localization_ja_words_po[] = {
#embed "../../Sources/Localization/Resources/ja/words.po"
};
static const unsigned char posts_html_tsv[] = {
#embed "../../Sources/Posts/Resources/html.tsv"
};
static const unsigned char sandbox_mentions_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/mentions.en.txt"
};
static const unsigned char sandbox_mentions_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/mentions.ja.txt"
};
static const unsigned char sandbox_own_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/own.en.txt"
};
static const unsigned char sandbox_own_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/own.ja.txt"
};
static const unsigned char sandbox_replies_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/replies.en.txt"
};
static const unsigned char sandbox_replies_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/replies.ja.txt"
};
static const unsigned char sandbox_topics_en_txt[] = {
#embed "../../Sources/Sandbox/Resources/topics.en.txt"
};
static const unsigned char sandbox_topics_ja_txt[] = {
#embed "../../Sources/Sandbox/Resources/topics.ja.txt"
};
static const unsigned char web_app_webmanifest[] = {
#embed "../../Sources/Web/Resources/app.webmanifest"
};
static const unsigned char web_apple_touch_icon_png[] = {
#embed "../../Sources/Web/Resources/apple-touch-icon.png"
};
static const unsigned char web_icon_192_png[] = {
#embed "../../Sources/Web/Resources/icon-192.png"
};
static const unsigned char web_icon_512_png[] = {
#embed "../../Sources/Web/Resources/icon-512.png"
};
static const unsigned char web_icon_maskable_png[] = {
#embed "../../Sources/Web/Resources/icon-maskable.png"
};
static const unsigned char web_icon_svg[] = {
#embed "../../Sources/Web/Resources/icon.svg"
};
static const unsigned char web_live_js[] = {
#embed "../../Sources/Web/Resources/live.js"
};
static const unsigned char web_push_js[] = {
#embed "../../Sources/Web/Resources/push.js"
};
static const unsigned char web_style_css[] = {
#embed "../../Sources/Web/Resources/style.css"
};
static const unsigned char web_upload_js[] = {
#embed "../../Sources/Web/Resources/upload.js"
};
static const unsigned char web_week_js[] = {
#embed "../../Sources/Web/Resources/week.js"
};
static const unsigned char web_worker_js[] = {
#embed "../../Sources/Web/Resources/worker.js"
};
static const unsigned char web_templates_action_mustache[] = {
#embed "../../Sources/Web/Resources/templates/action.mustache"
};
static const unsigned char web_templates_actions_mustache[] = {
#embed "../../Sources/Web/Resources/templates/actions.mustache"
};
static const unsigned char web_templates_band_mustache[] = {
#embed "../../Sources/Web/Resources/templates/band.mustache"
};
static const unsigned char web_templates_coming_back_mustache[] = {
#embed "../../Sources/Web/Resources/templates/coming-back.mustache"
};
static const unsigned char web_templates_coming_week_mustache[] = {
#embed "../../Sources/Web/Resources/templates/coming-week.mustache"
};
static const unsigned char web_templates_confirm_mustache[] = {
#embed "../../Sources/Web/Resources/templates/confirm.mustache"
};
static const unsigned char web_templates_devices_mustache[] = {
#embed "../../Sources/Web/Resources/templates/devices.mustache"
};
static const unsigned char web_templates_dial_mustache[] = {
#embed "../../Sources/Web/Resources/templates/dial.mustache"
};
static const unsigned char web_templates_emblem_mustache[] = {
#embed "../../Sources/Web/Resources/templates/emblem.mustache"
};
static const unsigned char web_templates_favorites_mustache[] = {
#embed "../../Sources/Web/Resources/templates/favorites.mustache"
};
static const unsigned char web_templates_file_mustache[] = {
#embed "../../Sources/Web/Resources/templates/file.mustache"
};
static const unsigned char web_templates_frame_mustache[] = {
#embed "../../Sources/Web/Resources/templates/frame.mustache"
};
static const unsigned char web_templates_head_mustache[] = {
#embed "../../Sources/Web/Resources/templates/head.mustache"
};
static const unsigned char web_templates_health_mustache[] = {
#embed "../../Sources/Web/Resources/templates/health.mustache"
};
static const unsigned char web_templates_hours_picture_mustache[] = {
#embed "../../Sources/Web/Resources/templates/hours-picture.mustache"
};
static const unsigned char web_templates_hours_mustache[] = {
#embed "../../Sources/Web/Resources/templates/hours.mustache"
};
static const unsigned char web_templates_index_mustache[] = {
#embed "../../Sources/Web/Resources/templates/index.mustache"
};
static const unsigned char web_templates_login_mustache[] = {
#embed "../../Sources/Web/Resources/templates/login.mustache"
};
static const unsigned char web_templates_once_mustache[] = {
#embed "../../Sources/Web/Resources/templates/once.mustache"
};
static const unsigned char web_templates_one_slot_mustache[] = {
#embed "../../Sources/Web/Resources/templates/one-slot.mustache"
};
static const unsigned char web_templates_past_week_mustache[] = {
#embed "../../Sources/Web/Resources/templates/past-week.mustache"
};
static const unsigned char web_templates_people_mustache[] = {
#embed "../../Sources/Web/Resources/templates/people.mustache"
};
static const unsigned char web_templates_person_file_mustache[] = {
#embed "../../Sources/Web/Resources/templates/person-file.mustache"
};
static const unsigned char web_templates_person_mustache[] = {
#embed "../../Sources/Web/Resources/templates/person.mustache"
};
static const unsigned char web_templates_plain_mustache[] = {
#embed "../../Sources/Web/Resources/templates/plain.mustache"
};
static const unsigned char web_templates_problem_mustache[] = {
#embed "../../Sources/Web/Resources/templates/problem.mustache"
};
static const unsigned char web_templates_public_mustache[] = {
#embed "../../Sources/Web/Resources/templates/public.mustache"
};
static const unsigned char web_templates_quoted_mustache[] = {
#embed "../../Sources/Web/Resources/templates/quoted.mustache"
};
static const unsigned char web_templates_rehearsal_mustache[] = {
#embed "../../Sources/Web/Resources/templates/rehearsal.mustache"
};
static const unsigned char web_templates_report_mustache[] = {
#embed "../../Sources/Web/Resources/templates/report.mustache"
};
static const unsigned char web_templates_settings_mustache[] = {
#embed "../../Sources/Web/Resources/templates/settings.mustache"
};
static const unsigned char web_templates_setup_mustache[] = {
#embed "../../Sources/Web/Resources/templates/setup.mustache"
};
static const unsigned char web_templates_slot_mustache[] = {
#embed "../../Sources/Web/Resources/templates/slot.mustache"
};
static const unsigned char web_templates_steps_mustache[] = {
#embed "../../Sources/Web/Resources/templates/steps.mustache"
};
static const unsigned char web_templates_symbols_mustache[] = {
#embed "../../Sources/Web/Resources/templates/symbols.mustache"
};
static const unsigned char web_templates_texts_mustache[] = {
#embed "../../Sources/Web/Resources/templates/texts.mustache"
};
static const unsigned char web_templates_today_mustache[] = {
#embed "../../Sources/Web/Resources/templates/today.mustache"
};
static const unsigned char web_templates_waiting_mustache[] = {
#embed "../../Sources/Web/Resources/templates/waiting.mustache"
};
static const unsigned char web_templates_week_mustache[] = {
#embed "../../Sources/Web/Resources/templates/week.mustache"
};
static const unsigned char web_templates_week_tabs_mustache[] = {
#embed "../../Sources/Web/Resources/templates/week-tabs.mustache"
};
static const unsigned char web_templates_words_mustache[] = {
#embed "../../Sources/Web/Resources/templates/words.mustache"
};
static const unsigned char migrations_0056_tables_sql[] = {
#embed "../../migrations/0056_tables.sql"
};
static const unsigned char migrations_0057_telling_sql[] = {
#embed "../../migrations/0057_telling.sql"
};

#define FILE(name, bytes) {name, bytes, sizeof bytes}

static const EmbeddedFile files[] = {
    FILE("Conduct/first-reply.tsv", conduct_first_reply_tsv),
    FILE("Conduct/fitness.tsv", conduct_fitness_tsv),
    FILE("Conduct/replies.txt", conduct_replies_txt),
    FILE("Conduct/server-rules.tsv", conduct_server_rules_tsv),
    FILE("Conduct/stop.txt", conduct_stop_txt),
    FILE("Localization/ja/commands.po", localization_ja_commands_po),
    FILE("Localization/ja/control-health.po", localization_ja_control_health_po),
    FILE("Localization/ja/control-reports.po", localization_ja_control_reports_po),
    FILE("Localization/ja/domain.po", localization_ja_domain_po),
    FILE("Localization/ja/settings.po", localization_ja_settings_po),
    FILE("Localization/ja/web-pages.po", localization_ja_web_pages_po),
    FILE("Localization/ja/web-server.po", localization_ja_web_server_po),
    FILE("Localization/ja/web-templates.po", localization_ja_web_templates_po),
    FILE("Localization/ja/web-today.po", localization_ja_web_today_po),
    FILE("Localization/ja/words.po", localization_ja_words_po),
    FILE("Posts/html.tsv", posts_html_tsv),
    FILE("Sandbox/mentions.en.txt", sandbox_mentions_en_txt),
    FILE("Sandbox/mentions.ja.txt", sandbox_mentions_ja_txt),
    FILE("Sandbox/own.en.txt", sandbox_own_en_txt),
    FILE("Sandbox/own.ja.txt", sandbox_own_ja_txt),
    FILE("Sandbox/replies.en.txt", sandbox_replies_en_txt),
    FILE("Sandbox/replies.ja.txt", sandbox_replies_ja_txt),
    FILE("Sandbox/topics.en.txt", sandbox_topics_en_txt),
    FILE("Sandbox/topics.ja.txt", sandbox_topics_ja_txt),
    FILE("Web/app.webmanifest", web_app_webmanifest),
    FILE("Web/apple-touch-icon.png", web_apple_touch_icon_png),
    FILE("Web/icon-192.png", web_icon_192_png),
    FILE("Web/icon-512.png", web_icon_512_png),
    FILE("Web/icon-maskable.png", web_icon_maskable_png),
    FILE("Web/icon.svg", web_icon_svg),
    FILE("Web/live.js", web_live_js),
    FILE("Web/push.js", web_push_js),
    FILE("Web/upload.js", web_upload_js),
    FILE("Web/week.js", web_week_js),
    FILE("Web/worker.js", web_worker_js),
    FILE("Web/style.css", web_style_css),
    FILE("Web/templates/action.mustache", web_templates_action_mustache),
    FILE("Web/templates/actions.mustache", web_templates_actions_mustache),
    FILE("Web/templates/band.mustache", web_templates_band_mustache),
    FILE("Web/templates/coming-back.mustache", web_templates_coming_back_mustache),
    FILE("Web/templates/coming-week.mustache", web_templates_coming_week_mustache),
    FILE("Web/templates/confirm.mustache", web_templates_confirm_mustache),
    FILE("Web/templates/devices.mustache", web_templates_devices_mustache),
    FILE("Web/templates/dial.mustache", web_templates_dial_mustache),
    FILE("Web/templates/emblem.mustache", web_templates_emblem_mustache),
    FILE("Web/templates/favorites.mustache", web_templates_favorites_mustache),
    FILE("Web/templates/file.mustache", web_templates_file_mustache),
    FILE("Web/templates/frame.mustache", web_templates_frame_mustache),
    FILE("Web/templates/head.mustache", web_templates_head_mustache),
    FILE("Web/templates/health.mustache", web_templates_health_mustache),
    FILE("Web/templates/hours-picture.mustache", web_templates_hours_picture_mustache),
    FILE("Web/templates/hours.mustache", web_templates_hours_mustache),
    FILE("Web/templates/index.mustache", web_templates_index_mustache),
    FILE("Web/templates/login.mustache", web_templates_login_mustache),
    FILE("Web/templates/once.mustache", web_templates_once_mustache),
    FILE("Web/templates/one-slot.mustache", web_templates_one_slot_mustache),
    FILE("Web/templates/past-week.mustache", web_templates_past_week_mustache),
    FILE("Web/templates/people.mustache", web_templates_people_mustache),
    FILE("Web/templates/person-file.mustache", web_templates_person_file_mustache),
    FILE("Web/templates/person.mustache", web_templates_person_mustache),
    FILE("Web/templates/plain.mustache", web_templates_plain_mustache),
    FILE("Web/templates/problem.mustache", web_templates_problem_mustache),
    FILE("Web/templates/public.mustache", web_templates_public_mustache),
    FILE("Web/templates/quoted.mustache", web_templates_quoted_mustache),
    FILE("Web/templates/rehearsal.mustache", web_templates_rehearsal_mustache),
    FILE("Web/templates/report.mustache", web_templates_report_mustache),
    FILE("Web/templates/settings.mustache", web_templates_settings_mustache),
    FILE("Web/templates/setup.mustache", web_templates_setup_mustache),
    FILE("Web/templates/slot.mustache", web_templates_slot_mustache),
    FILE("Web/templates/steps.mustache", web_templates_steps_mustache),
    FILE("Web/templates/symbols.mustache", web_templates_symbols_mustache),
    FILE("Web/templates/texts.mustache", web_templates_texts_mustache),
    FILE("Web/templates/today.mustache", web_templates_today_mustache),
    FILE("Web/templates/waiting.mustache", web_templates_waiting_mustache),
    FILE("Web/templates/week.mustache", web_templates_week_mustache),
    FILE("Web/templates/week-tabs.mustache", web_templates_week_tabs_mustache),
    FILE("Web/templates/words.mustache", web_templates_words_mustache),
    FILE("migrations/0056_tables.sql", migrations_0056_tables_sql),
    FILE("migrations/0057_telling.sql", migrations_0057_telling_sql),
};

const EmbeddedFile *const embedded_files = files;
const size_t embedded_count = sizeof files / sizeof files[0];
